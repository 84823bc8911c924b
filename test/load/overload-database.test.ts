import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { holding, lockSlots } from '../support/locks.ts';
import { startDatabaseProxy, type TcpProxy } from '../support/proxy.ts';
import { besides, expectUnharmed, retries } from './bystander.ts';
import { isServing, startTarget, type Target, targetOf } from './overload-stage.ts';
import { grpcFrame, openSession } from './overload-wire.ts';

/** Fewer than the streams of one connection, which the clients of a process share. */
const calls = 60;

const codeOf = (thrown: unknown) => Code[ConnectError.from(thrown).code];

describe('A caller whose statements hang', { retry: retries }, () => {
  const target = targetOf();

  it('A caller whose statements hang waits for connections behind itself, and another one is served', async () => {
    const stores = await target().client(SlotStoreService, { staffId: 1, subject: 'calm' });
    await holding(target().database.url, lockSlots, async (lock) => {
      const hanging = Array.from({ length: calls }, () =>
        target().replica.slots.updateSlotCapacity({ slotId: 1, isCapacityFull: true }).catch(codeOf),
      );
      await lock.untilAwaited(6);
      const bystander = await besides(
        (timeoutMs) => stores.getStoreStatus({}, { timeoutMs }),
        async () => undefined,
      );
      expectUnharmed(bystander);
      await lock.release();
      await Promise.all(hanging);
    });
    expect(await isServing(target())).toBe(true);
  });
});

describe('A database whose connections go silent, while new ones work', () => {
  let database: TcpProxy;
  let target: Target;
  beforeAll(async () => {
    database = await startDatabaseProxy();
    target = await startTarget({ databasePort: database.port });
  });
  afterAll(async () => {
    // The silent connections would stay open at the database.
    await database.cut();
    await target.stop();
  });

  async function health(): Promise<number> {
    const session = await openSession(target.grpcPort);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.end(grpcFrame(Buffer.alloc(0)));
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    session.destroy();
    // The frame's head, the field's tag, and the status.
    return Buffer.concat(chunks)[6] ?? 0;
  }
  const serving = 1;
  const isReady = async () => (await fetch(`http://127.0.0.1:${target.webPort}/readyz`)).status === 200;

  it('No call outlives its deadline by more than a second, and calls, health and /readyz work within 15 s again', async () => {
    // So that all connections of the pool are open.
    await Promise.all(Array.from({ length: calls }, () => target.replica.slots.getSlots({})));
    database.silence();
    const silentAt = performance.now();
    const patient = target.replica.slots.getSlots({}).then(() => 'answered', codeOf);
    const outcomes = Array.from({ length: calls }, async () => {
      const start = performance.now();
      const outcome = await target.replica.slots.getSlots({}, { timeoutMs: 1_000 }).then(() => 'answered', codeOf);
      expect(performance.now() - start).toBeLessThan(2_000);
      return outcome;
    });
    expect(new Set(await Promise.all(outcomes))).not.toContain('ResourceExhausted');
    expect(await patient).toBe('Unavailable');
    expect(performance.now() - silentAt).toBeLessThan(10_500);
    await expect
      .poll(
        async () => (await isReady()) && (await health()) === serving && (await isServing(target).catch(() => false)),
        { timeout: 15_000 - (performance.now() - silentAt) },
      )
      .toBe(true);
  });
});
