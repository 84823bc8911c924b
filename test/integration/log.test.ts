import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { Replica } from '../support/replica.ts';
import { signToken, withToken } from '../support/tokens.ts';

describe('A log that nobody reads', () => {
  let database: TestDatabase;
  let replica: Replica;
  let close: () => void;
  let call: () => Promise<unknown>;
  beforeAll(async () => {
    database = await createDatabase();
    replica = await Replica.start({ databaseUrl: database.url });
    const transport = createGrpcJsTransport(`127.0.0.1:${replica.ports.grpcPort}`);
    close = transport.close;
    // The subject stands in each line of the log.
    const token = await signToken({ subject: 's'.repeat(4_000) });
    const stores = createClient(SlotStoreService, withToken(transport, token));
    call = () => stores.getOpenSlots({}, { timeoutMs: 10_000 });
  });
  afterAll(async () => {
    close();
    await replica.kill();
    await database.close();
  });

  const calls = async (count: number) => {
    for (let left = count; left > 0; left -= 50) await Promise.all(Array.from({ length: 50 }, call));
  };

  it('A log that nobody reads delays neither calls nor health', async () => {
    replica.stallLog();
    await calls(1_000);
    const { status } = await fetch(`http://127.0.0.1:${replica.ports.webPort}/healthz`);
    expect(status).toBe(200);
  });

  it('A log that is read again says how many lines were lost', async () => {
    replica.readLog();
    const lost = () => replica.log.find(({ msg }) => msg === 'lines of the log were lost: nobody read them');
    await expect.poll(() => lost()?.lines).toBeGreaterThan(100);
    await call();
    const logged = replica.log.filter(({ msg }) => msg === 'call').length;
    await expect.poll(() => replica.log.filter(({ msg }) => msg === 'call').length).toBe(1_001 - Number(lost()?.lines));
    expect(logged).toBeLessThan(1_001);
  });

  it('A log that nobody reads does not keep the service from stopping', async () => {
    replica.stallLog();
    await calls(500);
    expect(await replica.stop()).toBe(0);
  });
});
