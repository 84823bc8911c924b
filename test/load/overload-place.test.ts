import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { failureOf } from '../support/contract.ts';
import { holding, lockSlots, updateCapacityPattern } from '../support/locks.ts';
import { protocols } from '../support/protocols.ts';
import { withToken } from '../support/tokens.ts';
import { targetOf } from './overload-stage.ts';

describe.each(protocols)('With one place for calls, a call over $name whose client leaves', (protocol) => {
  const target = targetOf({ env: { MAX_CALLS_IN_FLIGHT: '1' } });
  let connection: ReturnType<typeof protocol.open>;
  beforeAll(() => {
    connection = protocol.open(target());
  });
  afterAll(() => connection.close());

  const resetCapacity = (options = {}) =>
    createClient(SlotService, withToken(connection.transport, target().token)).updateSlotCapacity(
      { slotId: 1, isCapacityFull: false },
      options,
    );

  it('A call whose client leaves gives its place to the next one, and one that waits does so, too', async () => {
    await holding(target().database.url, lockSlots, async (lock) => {
      const leaving = new AbortController();
      const [first, waiting] = [1, 2].map(() => failureOf(resetCapacity({ signal: leaving.signal })));
      await lock.untilAwaited(1, updateCapacityPattern);
      const next = failureOf(resetCapacity());
      leaving.abort();
      await Promise.all([first, waiting]);
      await lock.untilAwaited(1, updateCapacityPattern);
      await lock.release();
      expect((await next).rawMessage).toBe('Slot not found');
    });
  });
});
