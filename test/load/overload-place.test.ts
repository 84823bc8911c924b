import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError, failureOf } from '../support/contract.ts';
import { getSlotsPattern, holding, type Lock, lockSlots } from '../support/locks.ts';
import { protocols } from '../support/protocols.ts';
import { startDatabaseProxy, type TcpProxy } from '../support/proxy.ts';
import { withToken } from '../support/tokens.ts';
import { startTarget, type Target } from './overload-stage.ts';

const overloaded = {
  code: 'ResourceExhausted',
  message: 'Too many calls at once - please try again later',
  reason: 'OVERLOADED',
} as const;

describe.each(protocols)('With one call in flight allowed, a call over $name whose client leaves', (protocol) => {
  let database: TcpProxy;
  let target: Target;
  let connection: ReturnType<typeof protocol.open>;
  beforeAll(async () => {
    database = await startDatabaseProxy();
    target = await startTarget({ MAX_CALLS_IN_FLIGHT: '1' }, database.port);
    connection = protocol.open(target.replica.ports);
  });
  afterAll(async () => {
    connection.close();
    await target.stop();
    await database.cut();
  });

  const getSlots = (options = {}) =>
    createClient(SlotService, withToken(connection.transport, target.token)).getSlots({}, options);

  const untilFree = () =>
    expect
      .poll(() =>
        getSlots().then(
          () => 'answered',
          () => 'refused',
        ),
      )
      .toBe('answered');

  /** Makes a call that waits for the lock. Returns a function that makes its client leave. */
  async function takePlace(lock: Lock): Promise<() => Promise<void>> {
    const leaving = new AbortController();
    const left = failureOf(getSlots({ signal: leaving.signal }));
    await lock.untilAwaited(1, getSlotsPattern);
    await expectError(getSlots(), overloaded);
    return async () => {
      leaving.abort();
      await left;
    };
  }

  it('A call whose client leaves counts no longer once its statement was canceled', async () => {
    await holding(target.database.url, lockSlots, async (lock) => {
      const leave = await takePlace(lock);
      await leave();
      // The next call is taken, and waits for the same lock.
      const next = async () => (await failureOf(getSlots({ timeoutMs: 300 }))).rawMessage;
      await expect.poll(next).not.toBe(overloaded.message);
    });
    await untilFree();
  });

  it('A call whose client leaves counts as long as its statement runs, when that could not be canceled', async () => {
    await holding(target.database.url, lockSlots, async (lock) => {
      const leave = await takePlace(lock);
      database.refuse();
      await leave();
      await expect.poll(() => target.replica.logged('a statement could not be canceled')).toBe(1);
      await expectError(getSlots(), overloaded);
      await database.mend();
    });
    await untilFree();
  });
});
