import { randomUUID } from 'node:crypto';
import { type CallOptions, createClient } from '@connectrpc/connect';
import { beforeEach, describe, expect, it } from 'vitest';
import { OnTaken, SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { inSlices } from '../../shared/rpc/answers/slices.ts';
import { expectError } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { holding, whileHeld } from '../support/locks.ts';
import { runService } from '../support/running-service.ts';

const week = { deliveryFrom: '2030-05-06', deliveryUntil: '2030-05-13', shiftDays: 7 };
const ofNextWeek = `delivery_time >= '2030-05-13Z' and delivery_time < '2030-05-20Z'`;
/** Slots can be read while this lock is held, but not written. */
const keepSlots = 'lock table slots in share mode';

const service = runService('slot');
const plan = createClient(SlotPlanService, service.staff);
const slots = createClient(SlotService, service.staff);
beforeEach(async () => {
  await service.sql(`delete from vendor_snippets; delete from product_slots; delete from slots;
    insert into slots (id, delivery_time, freeze_time, group_ids)
      select n, timestamptz '2030-05-05T10:00Z' + n * interval '1 day', '2030-05-01Z', '{1}' from generate_series(1, 7) n;
    insert into product_slots select id, 3 from slots;
    select setval('slots_id_seq', 1000, false)`);
});

/** Resolves once that many calls wait for a lock of any kind: the test's own, or that of another call. */
function untilWaiting(count: number): Promise<void> {
  return eventually(async () => {
    const waiting = await service.sql(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    expect(waiting, 'calls that wait for a lock').toHaveLength(count);
  });
}

/** Makes calls of which all have read what they need, and none has written, before the first of them goes on. */
function atOnce<Result>(...calls: readonly (() => Promise<Result>)[]): Promise<PromiseSettledResult<Result>[]> {
  return holding(service.database.url, keepSlots, async (lock) => {
    const ends = Promise.allSettled(calls.map((call) => call()));
    await untilWaiting(calls.length);
    await lock.release();
    return ends;
  });
}

const answersOf = <Result>(ends: readonly PromiseSettledResult<Result>[]) =>
  ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
const refusalsOf = (ends: readonly PromiseSettledResult<unknown>[]) =>
  ends.flatMap((end) => (end.status === 'rejected' ? [Promise.reject(end.reason)] : []));
const countOf = async (what: string) => {
  const [row] = await service.sql<{ n: number }>(`select count(*)::integer as n from ${what}`);
  return row?.n;
};

const withKey = (key: string): CallOptions => ({ headers: { 'idempotency-key': key } });

/** Planning it takes many slices, and encoding its answer one. */
const slow = { slotIds: [1], shiftDays: 7, snippetName: '{name} {date}' };

/** Does work while there is a long answer for the caller of CopySlots. */
async function besideALongAnswer(work: () => Promise<void>) {
  await service.sql(`insert into vendor_snippets (slot_id, snippet_code, product_ids, valid_till)
    select 1, n::text, '{1}'::integer[], timestamptz '2030-05-06Z' + n * interval '1 minute' from generate_series(1, 1000) n`);
  let isOver = false;
  const long = inSlices({ subject: 'tester' }, function* () {
    while (!isOver) yield;
  });
  try {
    await work();
  } finally {
    isOver = true;
    await long;
  }
}

it.each<[string, { readonly dryRun?: boolean }, CallOptions]>([
  ['without a key', {}, {}],
  ['with a key', {}, withKey('beside-a-long-answer')],
  ['that is a dry run', { dryRun: true }, {}],
])(
  'A call of CopySlots %s waits for no long answer of its caller, because its transaction is open',
  (_name, how, options) =>
    besideALongAnswer(async () => {
      const { created } = await plan.copySlots({ ...slow, ...how }, options);
      expect(created).toBe(1);
    }),
);

describe.each<[string, () => CallOptions]>([
  ['without keys', () => ({})],
  ['with keys of their own', () => withKey(randomUUID())],
])('Calls of CopySlots at once, %s', (_name, options) => {
  it('Two of one week make it once, and each answer names the same copies', async () => {
    const ends = await atOnce(
      () => plan.copySlots(week, options()),
      () => plan.copySlots(week, options()),
    );
    const [made, skipped] = answersOf(ends).toSorted((left, right) => right.created - left.created);
    expect(made).toMatchObject({ created: 7, skipped: 0 });
    expect(skipped).toMatchObject({ created: 0, skipped: 7 });
    expect(skipped?.copies.map(({ takenBySlotId }) => takenBySlotId)).toEqual(made?.copies.map(({ slot }) => slot?.id));
    expect(await countOf(`slots where ${ofNextWeek}`)).toBe(7);
    expect(await countOf('product_slots where slot_id >= 1000')).toBe(7);
  });

  it('Of six of one week that fail where it is taken, exactly one succeeds', async () => {
    const asked = { ...week, onTaken: OnTaken.FAIL };
    const ends = await atOnce(...Array.from({ length: 6 }, () => () => plan.copySlots(asked, options())));
    expect(answersOf(ends)).toMatchObject([{ created: 7, skipped: 0 }]);
    const refusals = refusalsOf(ends);
    expect(refusals).toHaveLength(5);
    for (const refused of refusals) {
      const { metadata } = await expectError(refused, 'SLOT_TAKEN');
      expect(metadata.slotIds).toBe('1,2,3,4,5,6,7');
    }
    expect(await countOf(`slots where ${ofNextWeek}`)).toBe(7);
  });

  it('Weeks that overlap in some days are copied without a deadlock, each day once', async () => {
    const ends = await atOnce(
      () => plan.copySlots({ slotIds: [7, 5, 3, 1], shiftDays: 7, repeat: 2 }, options()),
      () => plan.copySlots({ slotIds: [1, 2, 3, 4], shiftDays: 14 }, options()),
      () => plan.copySlots({ slotIds: [6, 7], shiftDays: 7 }, options()),
    );
    expect(refusalsOf(ends)).toEqual([]);
    const times = 'select delivery_time from slots where id >= 1000 group by delivery_time having count(*) > 1';
    expect(await service.sql(times)).toEqual([]);
    // 7, 5, 3 and 1 twice, 2 and 4 after 14 days, and 6.
    expect(await countOf('slots where id >= 1000')).toBe(11);
  });

  it('A source that is changed between reading and writing is copied as changed', async () => {
    const change = `update slots set delivery_time = '2030-05-06T12:30Z', group_ids = '{4,2}', etag = default where id = 1;
      insert into product_slots values (1, 9);
      insert into vendor_snippets (slot_id, snippet_code, product_ids) values (1, 'new', '{5}')`;
    const copied = await whileHeld(service.database.url, `${change}; ${keepSlots}`, () =>
      plan.copySlots({ slotIds: [1], shiftDays: 7, snippetName: '{name} {date}' }, options()),
    );
    const id = copied.copies[0]?.slot?.id ?? 0;
    const { slot } = await slots.getSlotById({ id });
    expect(copied).toMatchObject({ created: 1, copies: [{ slot: { groupIds: [4, 2], etag: slot?.etag } }] });
    expect(copied.copies[0]?.slot?.deliveryTime).toEqual(slot?.deliveryTime);
    expect(slot?.deliveryTime?.seconds).toBe(BigInt(Date.parse('2030-05-13T12:30Z') / 1_000));
    expect(slot).toMatchObject({ groupIds: [4, 2], vendorSnippets: [{ snippetCode: 'new 2030-05-13' }] });
    expect(slot?.products.map((product) => product.id)).toEqual([3, 9]);
    expect(await countOf('slots where id >= 1000')).toBe(1);
  });

  it('A source that leaves the interval between reading and writing is not copied', async () => {
    const change = 'update slots set is_active = false, etag = default where id in (2, 3)';
    const copied = await whileHeld(service.database.url, `${change}; ${keepSlots}`, () =>
      plan.copySlots(week, options()),
    );
    expect(copied.copies.map(({ sourceSlotId }) => sourceSlotId)).toEqual([1, 4, 5, 6, 7]);
    expect(copied).toMatchObject({ created: 5, skipped: 0 });
  });

  it('Of calls for the same snippet names, in another order each, exactly one succeeds and nothing of the others is left', async () => {
    await service.sql(`insert into vendor_snippets (slot_id, snippet_code, product_ids)
      select 1, 'b-1', '{1}'::integer[] union all select 1, 'a-1', '{1}'
      union all select 2, 'x-a', '{1}' union all select 2, 'x-b', '{1}'`);
    const vendorSnippets = ['x-b-1', 'x-a-1'].map((name) => ({ name, productIds: [1] }));
    const times = { deliveryTime: '2030-06-01T10:00Z', freezeTime: '2030-06-01' };
    const ends = await atOnce<unknown>(
      () => plan.copySlots({ slotIds: [1], shiftDays: 7, snippetName: 'x-{name}' }, options()),
      () => plan.copySlots({ slotIds: [2], shiftDays: 7, snippetName: '{name}-1' }, options()),
      () => slots.createSlot({ ...times, vendorSnippets }, options()),
    );
    expect(answersOf(ends)).toHaveLength(1);
    for (const refused of refusalsOf(ends)) {
      const message = expect.stringMatching(/^Snippet name "x-[ab]-1" already exists$/);
      await expectError(refused, { code: 'AlreadyExists', message, reason: 'SNIPPET_NAME_TAKEN' });
    }
    expect(await countOf('slots where id >= 1000')).toBe(1);
    expect(await countOf('vendor_snippets where slot_id >= 1000')).toBe(2);
  });
});

it('Two calls of CopySlots with one key make the week once, and give one answer', async () => {
  const ends = await atOnce(
    () => plan.copySlots(week, withKey('one-key')),
    () => plan.copySlots(week, withKey('one-key')),
  );
  const [first, second] = answersOf(ends);
  expect(first).toMatchObject({ created: 7, skipped: 0 });
  expect(second).toEqual(first);
  expect(await countOf(`slots where ${ofNextWeek}`)).toBe(7);
});

it('CopySlots races changes of its sources, and every copy is one state of its source', async () => {
  const shapes = [
    { freezeTime: '2030-05-02T00:00:00Z', groupIds: [1, 2], productIds: { ids: [1, 2] } },
    { freezeTime: '2030-05-03T00:00:00Z', groupIds: [3, 4], productIds: { ids: [4, 5] } },
  ];
  const change = (turn: number) =>
    slots.updateSlot({ id: 1, deliveryTime: '2030-05-06T10:00:00Z', ...shapes[turn % 2] });
  await change(0);
  for (let turn = 1; turn <= 20; turn += 1) {
    const copying = plan.copySlots({ slotIds: [1], shiftDays: turn * 7 });
    await Promise.all([change(turn), copying]);
    expect(await copying).toMatchObject({ created: 1 });
  }
  const copies = await service.sql(
    `select group_ids as groups, extract(day from delivery_time - freeze_time)::integer as days,
       array(select product_id from product_slots where slot_id = slots.id order by 1) as products
     from slots where id >= 1000`,
  );
  expect(copies).toHaveLength(20);
  for (const copied of copies) {
    expect([
      { groups: [1, 2], days: 4, products: [1, 2] },
      { groups: [3, 4], days: 3, products: [4, 5] },
    ]).toContainEqual(copied);
  }
});

describe('Calls of UpdateSlots at once', () => {
  const ids = Array.from({ length: 7 }, (_, index) => ({ id: index + 1 }));
  const full = { case: 'isCapacityFull', value: true } as const;
  const inactive = { case: 'isActive', value: false } as const;

  it.each([
    ['without keys', () => ({})],
    ['with keys of their own', () => withKey(randomUUID())],
  ])('In opposite orders they end without a deadlock, %s', async (_name, options: () => CallOptions) => {
    const ends = await holding(service.database.url, 'select from slots where id = 4 for update', async (lock) => {
      const updates = Promise.allSettled<unknown>([
        plan.updateSlots({ slots: ids, change: full }, options()),
        plan.updateSlots({ slots: ids.toReversed(), change: inactive }, options()),
        slots.updateSlotCapacity({ slotId: 7, isCapacityFull: false }, options()),
      ]);
      await untilWaiting(2);
      await lock.release();
      return updates;
    });
    expect(refusalsOf(ends)).toEqual([]);
    expect(answersOf(ends)).toMatchObject([{ changed: 7 }, { changed: 7 }, {}]);
    expect(await countOf('slots where is_capacity_full and not is_active')).toBeGreaterThanOrEqual(6);
    expect(await countOf('slots where is_active')).toBe(0);
  });

  it('A slot that is changed while the call waits for another makes its etag outdated, and nothing is written', async () => {
    const seen = await service.sql<{ id: number; etag: string }>('select id, etag from slots order by id');
    const asked = { slots: seen.map(({ id, etag }) => ({ id, etag: String(etag) })), change: full };
    const refused = whileHeld(
      service.database.url,
      'update slots set is_capacity_full = true, etag = default where id = 4',
      () => plan.updateSlots(asked),
    );
    const { metadata } = await expectError(refused, 'ETAG_MISMATCH');
    expect(metadata.slotIds).toBe('4');
    expect(await countOf('slots where is_capacity_full')).toBe(1);
  });
});
