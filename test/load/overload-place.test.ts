import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { failureOf } from '../support/contract.ts';
import { getSlotsPattern, holding, lockSlots } from '../support/locks.ts';
import { protocols } from '../support/protocols.ts';
import { withToken } from '../support/tokens.ts';
import { startTarget, type Target } from './overload-stage.ts';

describe.each(protocols)('With one place for calls, a call over $name whose client leaves', (protocol) => {
  let target: Target;
  let connection: ReturnType<typeof protocol.open>;
  beforeAll(async () => {
    target = await startTarget({ env: { MAX_CALLS_IN_FLIGHT: '1' } });
    connection = protocol.open(target.replica.ports);
  });
  afterAll(async () => {
    connection.close();
    await target.stop();
  });

  const getSlots = (options = {}) =>
    createClient(SlotService, withToken(connection.transport, target.token)).getSlots({}, options);

  it('A call whose client leaves gives its place to the next one, and one that waits does so, too', async () => {
    await holding(target.database.url, lockSlots, async (lock) => {
      const leaving = new AbortController();
      const [first, waiting] = [1, 2].map(() => failureOf(getSlots({ signal: leaving.signal })));
      await lock.untilAwaited(1, getSlotsPattern);
      const next = getSlots();
      leaving.abort();
      await Promise.all([first, waiting]);
      await lock.untilAwaited(1, getSlotsPattern);
      await lock.release();
      await next;
    });
  });
});
