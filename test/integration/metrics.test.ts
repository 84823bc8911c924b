import { createClient } from '@connectrpc/connect';
import { expect, it, type TestContext } from 'vitest';
import type { ServiceConfig } from '../../shared/config/config.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { fillDisk, setReadOnly } from '../support/faults.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { holding, lockSlots } from '../support/locks.ts';
import { startDatabaseProxy, viaPort } from '../support/proxy.ts';
import { RedisServer } from '../support/redis.ts';
import { scrape } from '../support/scrape.ts';
import { startTestService } from '../support/service.ts';
import { openSlot } from '../support/slot-writes.ts';
import { describeRedisServer } from '../support/stage.ts';
import { signToken, withToken } from '../support/tokens.ts';

async function startSlotService(
  { onTestFinished }: TestContext,
  overrides?: (config: ServiceConfig) => Partial<ServiceConfig>,
) {
  const service = await startTestService('slot', overrides);
  const transport = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
  onTestFinished(async () => {
    transport.close();
    await service.stop();
  });
  const slots = createClient(SlotService, withToken(transport, await signToken({ staffId: 1 })));
  return {
    service,
    slots,
    createSlot: () => slots.createSlot(openSlot([1, 2])),
    value: async (series: string) => (await scrape(service.metricsPort)).value(series),
  };
}

it('The metrics of slot-service follow a write to its refresh', async (context) => {
  const start = performance.now();
  const { service, createSlot, value } = await startSlotService(context);
  const [version, refreshes] = [await value('store_version'), await value('store_refresh_seconds_count')];
  await holding(service.database.url, 'lock table store_versions in exclusive mode', async () => {
    await createSlot();
    expect(await value('store_refresh_requests_pending')).toBe(1);
    await expect.poll(() => value('jobs{job="store-refresh",state="active"}')).toBe(1);
    await expect.poll(() => value('store_refresh_oldest_request_seconds')).toBeGreaterThan(0);
  });
  await expect.poll(() => value('store_refresh_requests_pending')).toBe(0);
  await expect.poll(() => value('store_version')).toBe(Number(version) + 1);
  expect(await value('store_refresh_seconds_count')).toBe(Number(refreshes) + 1);
  const secondsSoFar = (performance.now() - start) / 1_000;
  expect(await value('store_refresh_seconds_sum')).toBeGreaterThan(0);
  expect(await value('store_refresh_seconds_sum')).toBeLessThan(secondsSoFar);
  const age = await value('store_age_seconds');
  expect(age).toBeLessThan(secondsSoFar);
  await expect.poll(() => value('store_age_seconds')).toBeGreaterThan(Number(age));
  expect(await value('store_refresh_oldest_request_seconds')).toBe(0);
  expect(await value('store_refresh_failures_total')).toBe(0);
  expect(await value('jobs_not_queued_total{job="store-refresh"}')).toBe(0);
});

it('The metrics of slot-service count refreshes that fail', async (context) => {
  const { service, createSlot, value } = await startSlotService(context);
  await service.database.sql('alter table store_versions rename to elsewhere');
  await createSlot();
  await expect.poll(() => value('store_refresh_failures_total')).toBeGreaterThan(0);
  await service.database.sql('alter table elsewhere rename to store_versions');
});

it('The metrics of slot-service count the hits and misses of its caches', async (context) => {
  const { slots, createSlot, value } = await startSlotService(context);
  const { slot } = await createSlot();
  for (let n = 0; n < 3; n += 1) await slots.getDeliverySequence({ id: String(slot?.id) });
  expect(await value('delivery_sequence_cache_misses_total')).toBe(1);
  expect(await value('delivery_sequence_cache_hits_total')).toBe(2);
  expect(await value('delivery_sequence_cache_entries')).toBe(1);
  expect(await value('delivery_sequence_cache_bypassed')).toBe(0);
  expect(await value('verified_tokens_cached')).toBe(1);
  expect(await value('staff_users_cached')).toBe(1);
});

it('The metrics of slot-service show the connection pool, also while calls wait for it', async (context) => {
  const { service, slots, value } = await startSlotService(context, ({ database }) => ({
    database: { ...database, poolSize: 2 },
  }));
  const inUse = 'db_pool_connections{state="in_use"}';
  expect(await value('db_pool_connections_max')).toBe(2);
  await expect.poll(() => value(inUse)).toBe(0);
  await holding(service.database.url, lockSlots, async (lock) => {
    const calls = Promise.allSettled(
      [1, 2, 3, 4, 5].map((slotId) => slots.updateSlotCapacity({ slotId, isCapacityFull: true })),
    );
    await expect.poll(() => value(inUse)).toBe(2);
    await expect.poll(() => value('db_pool_waiting')).toBeGreaterThanOrEqual(3);
    // To read this takes a connection, and the calls need those.
    expect(await value('store_refresh_requests_pending')).toBeUndefined();
    expect(JSON.stringify(service.log)).toContain('calls wait for the database');
    await lock.release();
    await calls;
  });
  await expect.poll(() => value(inUse)).toBe(0);
  // The probe has one more, which it opens when all others are lent.
  await expect.poll(() => value('db_pool_connections{state="idle"}')).toBeOneOf([2, 3]);
  await expect.poll(() => value('store_refresh_requests_pending')).toBe(0);
});

it('The metrics of slot-service show the calls that wait for a permit to execute', async (context) => {
  const { service, slots, value } = await startSlotService(context, ({ limits }) => ({
    limits: { ...limits, calls: 2 },
  }));
  expect(await value('rpc_server_waiting')).toBe(0);
  await holding(service.database.url, lockSlots, async (lock) => {
    const calls = Promise.allSettled(
      [1, 2, 3, 4, 5].map((slotId) => slots.updateSlotCapacity({ slotId, isCapacityFull: true })),
    );
    await expect.poll(() => value('rpc_server_waiting')).toBeGreaterThanOrEqual(3);
    await lock.release();
    await calls;
  });
  expect(await value('rpc_server_waiting')).toBe(0);
});

it.for(['away', 'hung'])(
  'The metrics of slot-service are served while the database is %s, without those that are read from it',
  async (state, context) => {
    const proxy = await startDatabaseProxy();
    const { value } = await startSlotService(context, ({ database }) => {
      const url = viaPort(database.url, proxy.port);
      return { database: { ...database, url, directUrl: url } };
    });
    context.onTestFinished(() => proxy.cut());
    if (state === 'away') await proxy.cut();
    else proxy.freeze();
    const start = performance.now();
    expect(await value('store_version')).toBe(1);
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(await value('store_refresh_requests_pending')).toBeUndefined();
    expect(await value('jobs{job="store-refresh",state="waiting"}')).toBeUndefined();
    await expect.poll(() => value('service_ready')).toBe(0);
    if (state === 'hung') await proxy.cut();
    await expect.poll(() => value('delivery_sequence_cache_bypassed')).toBe(1);
    await proxy.mend();
    await expect.poll(() => value('service_ready')).toBe(1);
    await expect.poll(() => value('store_refresh_requests_pending')).toBe(0);
    await expect.poll(() => value('delivery_sequence_cache_bypassed')).toBe(0);
  },
);

it('The metrics of slot-service show that the database has become read only, and that reads go on', async (context) => {
  const { service, slots, createSlot, value } = await startSlotService(context);
  expect(await value('database_writable')).toBe(1);
  await setReadOnly(service, true);
  await expect.poll(() => value('database_writable')).toBe(0);
  await expect(createSlot()).rejects.toThrow('The database is unavailable');
  expect((await slots.getSlots({})).count).toBe(0);
  expect(await value('service_ready')).toBe(1);
  await setReadOnly(service, false);
  await expect.poll(() => value('database_writable')).toBe(1);
});

it("The metrics of slot-service show that a write has found the database's disk full", async (context) => {
  const { service, slots, createSlot, value } = await startSlotService(context);
  await fillDisk(service);
  await slots.getSlots({});
  expect(await value('database_writable')).toBe(1);
  await expect(createSlot()).rejects.toThrow('The database is unavailable');
  expect(await value('database_writable')).toBe(0);
  expect(await value('service_ready')).toBe(1);
});

it('The metrics of slot-service show the longest lag of the event loop since the last scrape', async (context) => {
  const { value } = await startSlotService(context);
  const longest = 'nodejs_eventloop_lag_seconds{quantile="1"}';
  const valueAfterBlock = () => {
    const until = Date.now() + 300;
    while (Date.now() < until);
    return value(longest);
  };
  // A block that begins before the monitor does is not seen.
  await expect.poll(valueAfterBlock).toBeGreaterThan(0.2);
  await expect.poll(() => value(longest)).toBeLessThan(0.2);
});

it('The metrics of slot-service show the memory and CPU time of the process', async (context) => {
  const { value } = await startSlotService(context);
  expect(await value('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  const used = Number(await value('nodejs_heap_size_bytes{state="used"}'));
  expect(used).toBeGreaterThan(1e6);
  expect(await value('nodejs_heap_size_bytes{state="total"}')).toBeGreaterThan(used / 2);
  expect(await value('process_start_time_seconds')).toBeCloseTo(Date.now() / 1_000 - process.uptime(), -1);
  const seconds = Number(await value('process_cpu_seconds_total'));
  expect(seconds).toBeGreaterThan(0);
  await expect.poll(() => value('process_cpu_seconds_total')).toBeGreaterThan(seconds);
});

describeRedisServer('Metrics', () => {
  it('The metrics of slot-service count jobs that could not be queued', async (context) => {
    const redis = await RedisServer.start();
    const { createSlot, value } = await startSlotService(context, () => ({ redisUrl: redis.url }));
    await redis.kill();
    await createSlot();
    await expect.poll(() => value('jobs_not_queued_total{job="store-refresh"}')).toBeGreaterThan(0);
    expect(await value('jobs{job="store-refresh",state="waiting"}')).toBeUndefined();
    await redis.stop();
  });
});

it('A refresh that fails is logged as a warning while it is retried, and as an error when it is given up', async (context) => {
  const { service, createSlot } = await startSlotService(context);
  await service.database.sql('alter table store_versions rename to elsewhere');
  await createSlot();
  const levels = () => new Set(service.log.filter(({ msg }) => msg === 'a job failed').map(({ level }) => level));
  // The job of a write has five attempts, within 8 s; a sweep has one.
  await expect.poll(levels).toEqual(new Set(['warn', 'error']));
  await service.database.sql('alter table elsewhere rename to store_versions');
});
