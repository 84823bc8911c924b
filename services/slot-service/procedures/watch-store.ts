import type { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { StoreParts } from '../parts.ts';

/**
 * Design 4, WatchStore: streams the version that this replica serves, then each version that it loads. Versions up to
 * `afterVersion` are skipped. The stream ends when the service begins to stop.
 */
export function watchStore({ replica }: StoreParts): Handler<typeof SlotStoreService.method.watchStore> {
  return async function* ({ afterVersion }, call) {
    await replica.read(call);
    const isNew = async (version: number) =>
      afterVersion === undefined || version > afterVersion || (await replica.hasLost(afterVersion, call));
    // A recovery sets the numbering back, so every version after the first new one is new as well.
    let hasSent = false;
    for await (const { version, refreshedAt } of replica.versions(call.signal.toAbortSignal())) {
      hasSent ||= await isNew(version);
      if (hasSent) yield { version, refreshedAt };
    }
    // A stream ended by the service is complete. One aborted by its caller fails.
    call.signal.throwIfAborted();
  };
}
