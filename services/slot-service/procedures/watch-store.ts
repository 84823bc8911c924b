import type { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { StoreParts } from '../parts.ts';
import { readStores } from '../stores/read.ts';

/**
 * Design 4, WatchStore: streams the version that this replica serves, then each one that it loads, from
 * the first one after `afterVersion` on. The stream ends when the service begins to stop.
 */
export function watchStore({ replica }: StoreParts): Handler<typeof SlotStoreService.method.watchStore> {
  return async function* ({ afterVersion }, call) {
    await readStores(replica, call);
    const isNew = (version: number) =>
      afterVersion === undefined || version > afterVersion || replica.hasLost(afterVersion);
    // After a recovery, versions are numbered again: whatever follows the first new one is new, too.
    let hasSent = false;
    for await (const { version, refreshedAt } of replica.versions(call.signal.toAbortSignal())) {
      hasSent ||= isNew(version);
      if (hasSent) yield { version, refreshedAt };
    }
    // A stream that the service ends is complete; one that its caller gave up fails.
    call.signal.throwIfAborted();
  };
}
