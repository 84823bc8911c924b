import { createClient } from '@connectrpc/connect';
import pg from 'pg';
import { describe, expect, inject, it, type TestContext } from 'vitest';
import type { ServiceConfig } from '../../shared/config/config.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { protocols } from '../support/protocols.ts';
import { startProxy } from '../support/proxy.ts';
import { RedisServer } from '../support/redis.ts';
import { scrape } from '../support/scrape.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signToken } from '../support/tokens.ts';
import { describeRedisServer } from './stores-stage.ts';
import { openSlot } from './stores-writes.ts';

async function startSlotService(
  { onTestFinished }: TestContext,
  overrides?: (config: ServiceConfig) => Partial<ServiceConfig>,
) {
  const service = await startTestService('slot', overrides);
  const [overGrpc] = protocols;
  if (overGrpc === undefined) throw new Error('no protocol to call by');
  const { transport, close } = overGrpc.open(service);
  onTestFinished(async () => {
    close();
    await service.stop();
  });
  const headers = { authorization: `Bearer ${await signToken({ staffId: 1 })}` };
  const slots = createClient(SlotService, transport);
  return {
    service,
    slots,
    headers,
    createSlot: () => slots.createSlot(openSlot([1, 2]), { headers }),
    value: async (series: string) => (await scrape(service.metricsPort)).value(series),
  };
}

/** Holds a lock until it is released, or the test ends. */
async function lock({ onTestFinished }: TestContext, { database }: TestService, table: string) {
  const locker = new pg.Client({ connectionString: database.url });
  await locker.connect();
  onTestFinished(() => locker.end());
  await locker.query(`begin; lock table ${table}`);
  return () => locker.query('rollback');
}

const eventually = { timeout: 10_000, interval: 50 };

describe('The metrics of slot-service', () => {
  it('follow a write to its refresh', async (context) => {
    const start = performance.now();
    const { service, createSlot, value } = await startSlotService(context);
    const [version, refreshes] = [await value('store_version'), await value('store_refresh_seconds_count')];
    const release = await lock(context, service, 'store_versions in exclusive mode');
    await createSlot();
    expect(await value('store_refresh_requests_pending')).toBe(1);
    await expect.poll(() => value('jobs{job="store-refresh",state="active"}'), eventually).toBe(1);
    await expect.poll(() => value('store_refresh_oldest_request_seconds'), eventually).toBeGreaterThan(0);
    await release();
    await expect.poll(() => value('store_refresh_requests_pending'), eventually).toBe(0);
    await expect.poll(() => value('store_version'), eventually).toBe(Number(version) + 1);
    expect(await value('store_refresh_seconds_count')).toBe(Number(refreshes) + 1);
    const secondsSoFar = (performance.now() - start) / 1_000;
    expect(await value('store_refresh_seconds_sum')).toBeGreaterThan(0);
    expect(await value('store_refresh_seconds_sum')).toBeLessThan(secondsSoFar);
    const age = await value('store_age_seconds');
    expect(age).toBeLessThan(secondsSoFar);
    await expect.poll(() => value('store_age_seconds'), eventually).toBeGreaterThan(Number(age));
    expect(await value('store_refresh_oldest_request_seconds')).toBe(0);
    expect(await value('store_refresh_failures_total')).toBe(0);
    expect(await value('jobs_not_queued_total{job="store-refresh"}')).toBe(0);
  });

  it('count refreshes that fail', async (context) => {
    const { service, createSlot, value } = await startSlotService(context);
    await service.database.sql('alter table store_versions rename to elsewhere');
    await createSlot();
    await expect.poll(() => value('store_refresh_failures_total'), eventually).toBeGreaterThan(0);
    await service.database.sql('alter table elsewhere rename to store_versions');
  });

  it('count what the caches serve', async (context) => {
    const { slots, headers, createSlot, value } = await startSlotService(context);
    const { slot } = await createSlot();
    for (let n = 0; n < 3; n += 1) await slots.getDeliverySequence({ id: String(slot?.id) }, { headers });
    expect(await value('delivery_sequence_cache_misses_total')).toBe(1);
    expect(await value('delivery_sequence_cache_hits_total')).toBe(2);
    expect(await value('delivery_sequence_cache_entries')).toBe(1);
    expect(await value('delivery_sequence_cache_bypassed')).toBe(0);
    expect(await value('verified_tokens_cached')).toBe(1);
    expect(await value('staff_users_cached')).toBe(1);
  });

  it('tell of the pool, also while calls wait for it', async (context) => {
    const { service, slots, headers, value } = await startSlotService(context, ({ database }) => ({
      database: { ...database, poolSize: 2 },
    }));
    const inUse = 'db_pool_connections{state="in_use"}';
    expect(await value('db_pool_connections_max')).toBe(2);
    await expect.poll(() => value(inUse), eventually).toBe(0);
    const release = await lock(context, service, 'slots in access exclusive mode');
    const calls = Promise.allSettled([1, 2, 3, 4, 5].map(() => slots.getSlots({}, { headers })));
    await expect.poll(() => value(inUse), eventually).toBe(2);
    await expect.poll(() => value('db_pool_waiting'), eventually).toBeGreaterThanOrEqual(3);
    // It takes a connection to know, and the calls need those.
    expect(await value('store_refresh_requests_pending')).toBeUndefined();
    expect(JSON.stringify(service.log)).toContain('calls wait for the database');
    await release();
    await calls;
    await expect.poll(() => value(inUse), eventually).toBe(0);
    // Reading the pending requests takes one for a moment.
    await expect.poll(() => value('db_pool_connections{state="idle"}'), eventually).toBe(2);
    await expect.poll(() => value('store_refresh_requests_pending'), eventually).toBe(0);
  });

  it.for(['away', 'hung'])('are told while the database is %s, without those that it holds', async (state, context) => {
    const viaProxy = await startProxy(Number(new URL(inject('postgresUrl')).port));
    const { value } = await startSlotService(context, (config) => {
      const url = new URL(config.database.url);
      url.port = String(viaProxy.port);
      return { database: { ...config.database, url: url.toString(), directUrl: url.toString() } };
    });
    context.onTestFinished(() => viaProxy.cut());
    if (state === 'away') await viaProxy.cut();
    else viaProxy.freeze();
    const start = performance.now();
    expect(await value('store_version')).toBe(1);
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(await value('store_refresh_requests_pending')).toBeUndefined();
    expect(await value('jobs{job="store-refresh",state="waiting"}')).toBeUndefined();
    if (state === 'hung') await viaProxy.cut();
    await expect.poll(() => value('delivery_sequence_cache_bypassed'), eventually).toBe(1);
    await viaProxy.mend();
    await expect.poll(() => value('store_refresh_requests_pending'), eventually).toBe(0);
    await expect.poll(() => value('delivery_sequence_cache_bypassed'), eventually).toBe(0);
  });

  it('tell how late the event loop was since they were told last', async (context) => {
    const { value } = await startSlotService(context);
    const longest = 'nodejs_eventloop_lag_seconds{quantile="1"}';
    const valueAfterBlock = () => {
      const until = Date.now() + 300;
      while (Date.now() < until);
      return value(longest);
    };
    // The monitor has to have begun before a block that it is to see.
    await expect.poll(valueAfterBlock, eventually).toBeGreaterThan(0.2);
    await expect.poll(() => value(longest), eventually).toBeLessThan(0.2);
  });

  it('tell what the process takes', async (context) => {
    const { value } = await startSlotService(context);
    expect(await value('process_resident_memory_bytes')).toBeGreaterThan(1e7);
    const used = Number(await value('nodejs_heap_size_bytes{state="used"}'));
    expect(used).toBeGreaterThan(1e6);
    expect(await value('nodejs_heap_size_bytes{state="total"}')).toBeGreaterThan(used / 2);
    expect(await value('process_start_time_seconds')).toBeCloseTo(Date.now() / 1_000 - process.uptime(), -1);
    const seconds = Number(await value('process_cpu_seconds_total'));
    expect(seconds).toBeGreaterThan(0);
    await expect.poll(() => value('process_cpu_seconds_total'), eventually).toBeGreaterThan(seconds);
  });
});

describeRedisServer('The metrics of slot-service', () => {
  it('count jobs that could not be queued', { timeout: 30_000 }, async (context) => {
    const redis = await RedisServer.start();
    const { createSlot, value } = await startSlotService(context, () => ({ redisUrl: redis.url }));
    await redis.kill();
    await createSlot();
    await expect.poll(() => value('jobs_not_queued_total{job="store-refresh"}'), eventually).toBeGreaterThan(0);
    expect(await value('jobs{job="store-refresh",state="waiting"}')).toBeUndefined();
    await redis.stop();
  });
});

it('A refresh that fails is logged as a warning while it is tried again, and as an error when it is not', {
  timeout: 60_000,
}, async (context) => {
  const { service, createSlot } = await startSlotService(context);
  await service.database.sql('alter table store_versions rename to elsewhere');
  await createSlot();
  const levels = () => new Set(service.log.filter(({ msg }) => msg === 'a job failed').map(({ level }) => level));
  // The write's run has five attempts, within 8 s; a sweep has one.
  await expect.poll(levels, { timeout: 30_000 }).toEqual(new Set(['warn', 'error']));
  await service.database.sql('alter table elsewhere rename to store_versions');
});
