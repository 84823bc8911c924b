import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { expectError, failureOf } from '../support/contract.ts';
import { protocols } from '../support/protocols.ts';
import { startProxy } from '../support/proxy.ts';
import { withToken } from '../support/replica.ts';
import { lockSlots, startTarget, type Target, untilBlocked } from './overload-stage.ts';

const overloaded = {
  code: 'ResourceExhausted',
  message: 'Too many calls at once - please try again later',
  reason: 'OVERLOADED',
} as const;
const polling = { timeout: 10_000 };

describe.each(protocols)('The only place, of a call over $name whose caller leaves', (protocol) => {
  let database: Awaited<ReturnType<typeof startProxy>>;
  let target: Target;
  let connection: ReturnType<typeof protocol.open>;
  beforeAll(async () => {
    database = await startProxy(Number(new URL(inject('postgresUrl')).port));
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
      .poll(
        () =>
          getSlots().then(
            () => 'answered',
            () => 'refused',
          ),
        polling,
      )
      .toBe('answered');

  /** Makes a call that waits for a lock. Gives what makes its caller leave. */
  async function takePlace(): Promise<() => Promise<void>> {
    const leaving = new AbortController();
    const left = failureOf(getSlots({ signal: leaving.signal }));
    await untilBlocked(target);
    await expectError(getSlots(), overloaded);
    return async () => {
      leaving.abort();
      await left;
    };
  }

  it('is free again once its statement was canceled', async () => {
    const unlock = await lockSlots(target);
    const leave = await takePlace();
    await leave();
    // It waits for the same lock then.
    const next = async () => (await failureOf(getSlots({ timeoutMs: 300 }))).rawMessage;
    await expect.poll(next, polling).not.toBe(overloaded.message);
    await unlock();
    await untilFree();
  });

  it('is held as long as its statement goes on that could not be canceled', async () => {
    const unlock = await lockSlots(target);
    const leave = await takePlace();
    database.refuse();
    await leave();
    await expect.poll(() => target.replica.logged('a statement could not be canceled'), polling).toBe(1);
    await expectError(getSlots(), overloaded);
    await database.mend();
    await unlock();
    await untilFree();
  });
});
