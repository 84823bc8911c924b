import { setTimeout as pause } from 'node:timers/promises';
import { fromJson } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { AuditEntrySchema, AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { EventReceiver, type Received } from '../support/event-receiver.ts';
import { setReadOnly } from '../support/faults.ts';
import { holding } from '../support/locks.ts';
import { grpc } from '../support/protocols.ts';
import { scrape } from '../support/scrape.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signToken, withToken } from '../support/tokens.ts';

const secrets = [24, 64].map((size) => `whsec_${Buffer.alloc(size, size).toString('base64')}`);
const entryOf = (id: number, type = 'slot', count = 1) =>
  `insert into audit_entries (procedure, subject, request_id, resource_type, resource_id, after, shown_bytes)
   select 'slot.v1.SlotService/UpdateSlot', 'anna', 'r', '${type}', ${id}, '{"isActive": true}', 18
   from generate_series(1, ${count})`;

let database: TestDatabase;
let receiver: EventReceiver;
const services: TestService[] = [];

beforeEach(async () => {
  database = await createDatabase();
  receiver = await EventReceiver.start();
});
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()));
  await receiver.stop();
  await database.close();
});

/** Starts a service that posts to the receiver, and resolves once it has begun to. */
async function start(
  name: 'slot' | 'coupon' = 'slot',
  events: 'on' | 'off' = 'on',
  used = secrets,
): Promise<TestService> {
  const config = events === 'on' ? { url: receiver.url, secrets: used } : undefined;
  const service = await startTestService(name, () => ({ events: config }), database);
  services.push(service);
  if (events === 'on') {
    await expect
      .poll(() => database.sql(`select is_active from webhook_deliveries where service = '${name}-service'`))
      .toEqual([{ is_active: true }]);
  }
  return service;
}

async function stop(service: TestService): Promise<void> {
  services.splice(services.indexOf(service), 1);
  await service.stop();
}

/** Lets the next attempt begin now. */
const hasten = () => database.sql('update webhook_deliveries set due_at = now()');
const idsUpTo = (count: number, name = 'slot') => Array.from({ length: count }, (_, at) => `${name}-service-${at + 1}`);

describe('Webhooks', () => {
  it('A service posts its entries as signed batches of CloudEvents, from its first start on', async () => {
    await database.sql(entryOf(1));
    const service = await start();
    await database.sql(entryOf(7));
    await receiver.until(1);
    const { headers: received, body = '' } = receiver.received[0] ?? {};
    const headers = Object.fromEntries(Object.entries(received ?? {}).map(([name, value]) => [name, String(value)]));
    expect(headers).toMatchObject({
      'content-type': 'application/cloudevents-batch+json',
      'webhook-id': expect.stringMatching(/^slot-service-2-2-\d{16}$/),
    });
    for (const secret of secrets) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
    const [event] = [HTTP.toEvent<Record<string, unknown>>({ headers, body })].flat();
    expect(event instanceof CloudEvent && event.validate()).toBe(true);
    expect(event).toMatchObject({
      ...{ id: 'slot-service-2', source: '/delivery-admin/slot-service', type: 'delivery-admin.slot.UpdateSlot' },
      ...{ subject: '7', specversion: '1.0', datacontenttype: 'application/json' },
    });
    const connection = grpc.open(service);
    const audit = createClient(AuditService, withToken(connection.transport, await signToken({ staffId: 1 })));
    await database.sql(`insert into staff_users (id, name) values (1, 'Asha')`);
    const { entries } = await audit.listEntries({ limit: 1 });
    connection.close();
    expect([fromJson(AuditEntrySchema, JSON.parse(body)[0].data)]).toEqual(entries);
    expect(event?.time).toBe(JSON.parse(body)[0].data.at);
    expect(receiver.taken).toEqual(['slot-service-2']);
  });

  it('Each service posts the entries of its own procedures, in batches of 100 at most', async () => {
    await Promise.all([start('slot'), start('coupon')]);
    await database.sql(entryOf(1, 'slot', 250));
    await database.sql(entryOf(1, 'coupon', 150));
    await receiver.until(400);
    const of = (name: string) => receiver.received.filter(({ ids }) => ids[0]?.startsWith(name));
    expect(of('slot').map(({ ids }) => ids.length)).toEqual([100, 100, 50]);
    expect(of('slot').flatMap(({ ids }) => ids)).toEqual(idsUpTo(250));
    expect(of('coupon').flatMap(({ ids }) => ids)).toEqual(idsUpTo(400, 'coupon').slice(250));
  });

  it.each([
    ['is answered with 500', () => 500],
    ['is answered with a redirect', () => 307],
    [
      'gets no answer',
      (_received: Received, response: { destroy(): void }) => {
        response.destroy();
        return 0;
      },
    ],
  ])('A batch that %s is sent again under its id, and nothing before it is taken', async (_what, answer) => {
    const service = await start();
    receiver.answer = answer;
    await database.sql(entryOf(1));
    await expect.poll(() => receiver.received.length).toBe(1);
    await database.sql(entryOf(2));
    await expect.poll(() => receiver.received.length).toBe(2);
    await expect
      .poll(async () => (await database.sql('select failures from webhook_deliveries where is_active'))[0]?.failures)
      .toBe(2);
    receiver.answer = () => 204;
    await hasten();
    await receiver.until(2);
    expect(receiver.received.map(({ ids }) => ids)).toEqual([
      ...new Array(3).fill(['slot-service-1']),
      ['slot-service-2'],
    ]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    await expect
      .poll(() => database.sql('select sent_id::integer, failures from webhook_deliveries where is_active'))
      .toEqual([{ sent_id: 2, failures: 0 }]);
    const text = JSON.stringify(service.log);
    expect(text).toContain('a webhook was not taken, and is sent again');
    expect(text).not.toMatch(/url-secret|whsec_/);
  });

  it('A batch keeps its id and its entries over a restart', async () => {
    const service = await start();
    receiver.answer = () => 503;
    await database.sql(entryOf(1));
    await expect.poll(() => receiver.received.length).toBe(1);
    await stop(service);
    await database.sql(entryOf(2, 'slot', 200));
    receiver.answer = () => 204;
    await start();
    await receiver.until(201);
    const [first, second] = receiver.received;
    expect(second?.ids).toEqual(['slot-service-1']);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(receiver.taken).toEqual(idsUpTo(201));
  });

  it('Retries wait for 1 s, then twice as long each time, up to 5 minutes', async () => {
    await start();
    receiver.answer = () => 500;
    await database.sql(entryOf(1));
    const waits: number[] = [];
    for (let failures = 1; failures <= 11; failures += 1) {
      const read = `select failures, round(extract(epoch from due_at - clock_timestamp()))::integer as wait from webhook_deliveries where is_active`;
      await expect.poll(async () => (await database.sql(read))[0]?.failures).toBe(failures);
      waits.push(Number((await database.sql(read))[0]?.wait));
      await hasten();
    }
    for (const [at, wait] of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].entries()) {
      expect(Math.abs((waits[at] ?? 0) - wait)).toBeLessThanOrEqual(1);
    }
  });

  it('Of several replicas one sends at a time, and what was taken is not sent again', async () => {
    await Promise.all([start(), start(), start()]);
    for (let n = 0; n < 30; n += 1) await database.sql(entryOf(n, 'slot', 50));
    await receiver.until(1_500);
    expect(receiver.received.flatMap(({ ids }) => ids)).toEqual(idsUpTo(1_500));
    expect(receiver.mostAtOnce).toBe(1);
  });

  it('After a time without EVENTS_URL, a service goes on where it stopped', async () => {
    await stop(await start());
    await database.sql(entryOf(1));
    const silent = await start('slot', 'off');
    await database.sql(entryOf(2));
    await expect
      .poll(() => database.sql(`select is_active from webhook_deliveries where service = 'slot-service'`))
      .toEqual([{ is_active: false }]);
    await stop(silent);
    await start();
    await receiver.until(2);
    expect(receiver.taken).toEqual(idsUpTo(2));
  });

  it('Retention keeps what is not taken, while EVENTS_URL is set', async () => {
    const service = await start();
    receiver.answer = () => 500;
    await database.sql(`update audit_retention set days = 1;
      insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, after)
      select now() - interval '3 days', '', '', '', 'slot', 1, '{}' from generate_series(1, 5)`);
    await expect.poll(() => receiver.received.length).toBe(1);
    const sweep = () => database.sql(`select sweep_audit_entries('infinity', 100) as swept`);
    expect(await sweep()).toEqual([{ swept: 0 }]);
    await stop(service);
    expect(await sweep()).toEqual([{ swept: 0 }]);
    const silent = await start('slot', 'off');
    await expect
      .poll(() => database.sql(`select is_active from webhook_deliveries where service = 'slot-service'`))
      .toEqual([{ is_active: false }]);
    expect(await sweep()).toEqual([{ swept: 5 }]);
    // The first batch is gone, and what is kept is sent.
    await stop(silent);
    receiver.answer = () => 204;
    await database.sql(entryOf(2, 'slot', 2));
    await start();
    await receiver.until(2);
    expect(receiver.taken).toEqual([6, 7].map((id) => `slot-service-${id}`));
  });

  it('A batch whose entries were all deleted is passed, and what is kept is sent', async () => {
    const service = await start();
    receiver.answer = () => 500;
    await database.sql(entryOf(1, 'slot', 5));
    await expect.poll(() => receiver.received.length).toBe(1);
    await stop(service);
    await database.sql(`begin; set local audit.sweeping = 'on'; delete from audit_entries; commit`);
    await database.sql(entryOf(2, 'slot', 600));
    receiver.answer = () => 204;
    await start();
    await receiver.until(600);
    expect(receiver.taken).toEqual(idsUpTo(605).slice(5));
  });

  it('A replica that was slower than its lease neither frees the lease of the next one nor moves it on', async () => {
    await start();
    receiver.answer = async () => {
      // Another one takes over meanwhile.
      await database.sql(`update webhook_deliveries set claims = claims + 1, due_at = now() + interval '9 seconds'`);
      return 500;
    };
    await database.sql(entryOf(1));
    await expect.poll(() => receiver.received.length).toBe(1);
    const wait =
      'select extract(epoch from due_at - now())::integer > 5 as held, failures from webhook_deliveries where is_active';
    await expect.poll(() => database.sql(wait)).toEqual([{ held: true, failures: 0 }]);
  });

  it('A batch that was taken is not sent again when the database could not note it', async () => {
    await start();
    receiver.answer = async () => {
      await database.sql('alter table webhook_deliveries rename to away');
      return 204;
    };
    await database.sql(entryOf(1));
    await receiver.until(1);
    receiver.answer = () => 204;
    await pause(1_000);
    await database.sql('alter table away rename to webhook_deliveries');
    await database.sql(entryOf(2));
    await receiver.until(2);
    expect(receiver.received.map(({ ids }) => ids)).toEqual([['slot-service-1'], ['slot-service-2']]);
  });

  it('coupon-service starts on a database that is read only, with webhooks and without', async () => {
    await setReadOnly({ database }, true);
    for (const events of [{ url: receiver.url, secrets }, undefined]) {
      services.push(await startTestService('coupon', () => ({ events }), database));
    }
    expect(services).toHaveLength(2);
  });

  it('A time of PostgreSQL that was far ahead holds nothing back', async () => {
    await start();
    await database.sql(`update webhook_deliveries set due_at = now() + interval '1 day'`);
    await database.sql(entryOf(1));
    await receiver.until(1);
  });

  it('A first start sends what is committed from then on, also what was written before', async () => {
    await database.sql(entryOf(1));
    await holding(database.url, entryOf(1), async (lock) => {
      await database.sql(entryOf(1));
      await start();
      await database.sql(entryOf(1));
      await lock.release('commit');
    });
    await receiver.until(2);
    await database.sql(entryOf(1));
    await receiver.until(3);
    expect(receiver.taken).toEqual([2, 4, 5].map((id) => `slot-service-${id}`));
  });

  it('A first start of one service leaves out nothing of the other one', async () => {
    await holding(database.url, `${entryOf(1)}; ${entryOf(1, 'coupon')}`, async (lock) => {
      await database.sql(`${entryOf(1)}; ${entryOf(1, 'coupon')}`);
      await start('coupon');
      await database.sql(entryOf(1));
      await start('slot');
      await database.sql(entryOf(1, 'coupon'));
      await lock.release('commit');
    });
    await receiver.until(3);
    expect(receiver.taken.toSorted()).toEqual(['coupon-service-2', 'coupon-service-6', 'slot-service-1']);
  });

  it.each([
    ['several replicas start', () => Promise.all([start(), start(), start()])],
    ['the replica that starts ends, and another one starts', async () => stop(await start()).then(() => start())],
  ])('Nothing is left out when %s first while a write is open', async (_what, startFirst) => {
    await holding(database.url, entryOf(1), async (lock) => {
      await database.sql(entryOf(1));
      await startFirst();
      await database.sql(entryOf(1));
      await lock.release('commit');
    });
    const late = ['slot-service-1', 'slot-service-3'];
    await expect.poll(() => receiver.taken).toEqual(expect.arrayContaining(late));
  });

  it('A batch that another replica has tried in between is sent as it was', async () => {
    await start();
    const tried = `update webhook_deliveries set batch_end = 2 where service = 'slot-service'`;
    await holding(database.url, tried, async (lock) => {
      await database.sql(entryOf(1));
      await lock.untilAwaited();
      await database.sql(entryOf(2));
      await lock.release('commit');
    });
    await receiver.until(2);
    expect(receiver.received.map(({ ids }) => ids)).toEqual([['slot-service-1', 'slot-service-2']]);
  });

  it('A trail that grows by entries of the other service holds nothing back', async () => {
    await start();
    await database.sql(entryOf(1, 'coupon', 1200));
    await expect
      .poll(async () =>
        Number((await database.sql('select sent_id from webhook_deliveries where is_active'))[0]?.sent_id),
      )
      .toBeGreaterThanOrEqual(1_000);
    await database.sql(entryOf(2));
    await receiver.until(1);
    expect(receiver.received.flatMap(({ ids }) => ids)).toEqual(['slot-service-1201']);
  });

  it('Each overview tells how many entries of its own service are not taken, and how long the oldest one waits', async () => {
    receiver.answer = () => 500;
    const staff = async (service: TestService) => {
      const connection = grpc.open(service);
      onTestFinished(() => connection.close());
      return withToken(connection.transport, await signToken({ staffId: 1 }));
    };
    const week = { from: '2030-01-07', until: '2030-01-08' };
    await database.sql(`insert into staff_users (id, name) values (1, 'Asha')`);
    const [slot, coupon] = [await start(), await start('coupon')];
    const slots = createClient(SlotPlanService, await staff(slot));
    const redemptions = createClient(RedemptionService, await staff(coupon));
    expect(await slots.getOverview(week)).toMatchObject({ unsentEntries: 0 });
    await database.sql(entryOf(1, 'slot', 2));
    await database.sql(entryOf(1, 'redemption', 3));
    const [{ at: oldest } = { at: new Date() }] = await database.sql<{ at: Date }>(
      `select min(at) as at from audit_entries where resource_type = 'redemption'`,
    );
    expect((await slots.getOverview(week)).unsentEntries).toBe(2);
    const { unsentEntries, oldestUnsentAt } = await redemptions.getOverview(week);
    expect([unsentEntries, oldestUnsentAt && timestampDate(oldestUnsentAt)]).toEqual([3, oldest]);
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    expect((await redemptions.getOverview(week)).unsentEntries).toBe(3);
    receiver.answer = () => 204;
    await hasten();
    await receiver.until(5);
    await expect.poll(async () => (await slots.getOverview(week)).unsentEntries).toBe(0);
    await expect.poll(async () => (await redemptions.getOverview(week)).unsentEntries).toBe(0);
  });

  it('The metrics tell how long the oldest entry waits, and what became of the batches', async () => {
    const service = await start();
    receiver.answer = () => 500;
    await database.sql(entryOf(1));
    const values = async () => {
      const { value } = await scrape(service.metricsPort);
      return [value('webhook_batches_total{outcome="taken"}'), value('webhook_batches_total{outcome="refused"}')];
    };
    await expect.poll(values).toEqual([0, 1]);
    expect((await scrape(service.metricsPort)).value('webhook_oldest_entry_seconds')).toBeGreaterThan(0);
    receiver.answer = () => 204;
    await hasten();
    await receiver.until(1);
    await expect.poll(values).toEqual([1, 1]);
    await expect.poll(async () => (await scrape(service.metricsPort)).value('webhook_oldest_entry_seconds')).toBe(0);
  });
});
