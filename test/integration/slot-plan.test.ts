import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listSlots as createListSlots } from '../../services/slot-service/procedures/list-slots.ts';
import type { Database } from '../../shared/db/database.ts';
import { SlotOrder, SlotPlanService, SlotState } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { responseOf, staffCall } from '../support/call-context.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { holding } from '../support/locks.ts';
import { readPages } from '../support/pages.ts';
import { openPool, rowsReadBy } from '../support/rows-read.ts';

const { listSlots } = SlotPlanService.method;
const { ACTIVE, INACTIVE } = SlotState;
const orders = [SlotOrder.SOONEST_FIRST, SlotOrder.LATEST_FIRST];
type Asked = MessageInitShape<typeof listSlots.input>;

async function list(pool: Database, asked: Asked) {
  const handler = createListSlots({ database: pool });
  return responseOf(listSlots, await handler(create(listSlots.input, asked), staffCall(listSlots)));
}

/** Follows the page tokens to the last page. Returns the ids of each page. */
async function pagesOf(pool: Database, asked: Asked): Promise<number[][]> {
  const pages = await readPages((pageToken) => list(pool, { ...asked, pageToken }));
  return pages.map(({ slots }) => slots.map(({ id }) => id));
}

/** More slots than are tried in order, and products of more slots than a product of few: each way to find slots is taken. */
describe('Lists of 8,000 slots', () => {
  let own: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    own = await createDatabase();
    database = openPool(own.url);
    // In no order of ids, four at the same time. Product and group 1: half of the slots; 2: the last ones, 3: few, 4: two, 5: the
    // first ones. A group is also the 101st of its slot.
    await own.sql(`
      insert into slots (id, delivery_time, freeze_time, is_active, is_capacity_full, group_ids)
      select (n * 3001) % 8009 + 1, timestamptz '2030-01-01Z' + n / 4 * interval '1 hour', '2030-01-01Z', n % 10 < 8, n % 7 = 0,
        array_remove(
          case when n % 50 = 0 then array(select generate_series(1000, 1099)) end || array[
            case when n % 2 = 0 then 1 end, case when n > 4500 then 2 end, case when n % 400 = 0 then 3 end,
            case when n in (7, 7007) then 4 end, case when n < 3500 then 5 end
          ], null)
      from generate_series(1, 8000) n;
      insert into product_slots select id, unnest(group_ids[array_length(group_ids, 1) - 4:]) from slots
        where group_ids <> '{}' on conflict do nothing;
      delete from product_slots where product_id >= 1000`);
    await own.sql('analyze');
  });
  afterAll(async () => {
    await database.close();
    await own.close();
  });

  const asc = 'delivery_time, id';
  const week = { deliveryFrom: '2030-02-10', deliveryUntil: '2030-02-17' };
  const ofWeek = `delivery_time >= '2030-02-10Z' and delivery_time < '2030-02-17Z'`;
  const hasProduct = (id: number) =>
    `exists (select from product_slots where slot_id = slots.id and product_id = ${id})`;
  const hasGroup = (id: number) => `${id} = any(group_ids)`;
  const filters: [string, Asked, string][] = [
    ['none', {}, 'is_active'],
    ['both states', { states: [ACTIVE, INACTIVE] }, 'true'],
    ['a week, full', { ...week, isCapacityFull: true }, `is_active and is_capacity_full and ${ofWeek}`],
    ...[1, 2, 3, 4, 5, 6].flatMap((id): [string, Asked, string][] => [
      [`product ${id}`, { productId: id }, `is_active and ${hasProduct(id)}`],
      [`group ${id}`, { groupId: id }, `is_active and ${hasGroup(id)}`],
      [`product ${id}, inactive`, { productId: id, states: [INACTIVE] }, `not is_active and ${hasProduct(id)}`],
      [
        `group ${id}, not full`,
        { groupId: id, isCapacityFull: false },
        `is_active and not is_capacity_full and ${hasGroup(id)}`,
      ],
      [
        `group ${id} of a week, not full`,
        { ...week, groupId: id, isCapacityFull: false, states: [ACTIVE, INACTIVE] },
        `not is_capacity_full and ${ofWeek} and ${hasGroup(id)}`,
      ],
    ]),
    ...[
      [1, 1],
      [1, 2],
      [2, 3],
      [3, 1],
      [2, 5],
      [4, 5],
    ].map(([product = 0, group = 0]): [string, Asked, string] => [
      `product ${product} and group ${group}`,
      { productId: product, groupId: group, states: [ACTIVE, INACTIVE] },
      `${hasProduct(product)} and ${hasGroup(group)}`,
    ]),
  ];

  it.each(filters)(
    'All pages of %s have the slots that a plain query finds, in its order',
    async (_name, asked, where) => {
      const rows = await own.sql<{ id: number }>(`select id from slots where ${where} order by ${asc}`);
      const expected = rows.map(({ id }) => id);
      expect((await pagesOf(database, { ...asked, limit: 700 })).flat()).toEqual(expected);
      const falling = await pagesOf(database, { ...asked, limit: 700, order: SlotOrder.LATEST_FIRST });
      expect(falling.flat()).toEqual(expected.toReversed());
      expect((await list(database, asked)).slots.map(({ id }) => id)).toEqual(expected.slice(0, 50));
    },
  );

  it('The next page goes on where the page was found, also when its last slot was moved before it was shown', async () => {
    const { slots: expected } = await list(database, { limit: 4 });
    const found = await holding(own.url, 'lock table vendor_snippets in access exclusive mode', async (lock) => {
      const listing = list(database, { limit: 2 });
      await lock.untilAwaited();
      await own.sql(`update slots set delivery_time = delivery_time + interval '1 year' where id = $1`, [
        expected[1]?.id,
      ]);
      await lock.release();
      return listing;
    });
    const { slots: next } = await list(database, { limit: 2, pageToken: found.nextPageToken });
    expect([...found.slots, ...next]).toEqual(expected);
    await own.sql(`update slots set delivery_time = delivery_time - interval '1 year' where id = $1`, [
      expected[1]?.id,
    ]);
  });

  // The page, as many as are tried in order, and those that the index of the filter finds.
  it.each<[string, Asked, rows: number]>([
    ['no filter', {}, 0],
    ['inactive', { states: [INACTIVE] }, 0],
    ['full', { isCapacityFull: true }, 0],
    ['a product of half of the slots', { productId: 1 }, 0],
    ['a product of few slots', { productId: 3 }, 20],
    ['a product of no slot', { productId: 6 }, 0],
    ['a group of half of the slots', { groupId: 1 }, 2_051],
    ['a group of two slots', { groupId: 4 }, 2_051 + 2 + 160],
  ])('A page of %s reads no rows but its own and few others', async (_name, asked, others) => {
    for (const order of orders) {
      const read = await rowsReadBy(own, 'slots', (pool) => list(pool, { ...asked, order }));
      expect(read).toBeLessThanOrEqual(51 + others);
    }
  });

  it.each([
    ['few slots', 3],
    ['no slot', 6],
  ])('A page of a product of %s reads few associations', async (_name, productId) => {
    const read = await rowsReadBy(own, 'product_slots', (pool) => list(pool, { productId }), 'entries');
    expect(read).toBeLessThan(500);
  });
});

describe('Pages of slots', () => {
  let own: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    own = await createDatabase();
    database = openPool(own.url);
  });
  beforeEach(() => own.sql('truncate slots, vendor_snippets, product_slots restart identity'));
  afterAll(async () => {
    await database.close();
    await own.close();
  });

  it.each(orders)('Pages in order %i lose and repeat none of the slots that stay while others write', async (order) => {
    await own.sql(`insert into slots (delivery_time, freeze_time)
      select timestamptz '2030-01-01Z' + n / 10 * interval '1 second', now() from generate_series(1, 2000) n`);
    const walk = { isOver: false };
    const write = async (turn: number) => {
      // Bounded: on a busy machine they would write faster than the pages are read.
      for (let left = 60; left > 0 && !walk.isOver; left -= 1) {
        await own.sql(
          `with added as (
             insert into slots (delivery_time, freeze_time)
             select timestamptz '2030-01-01Z' + n * interval '1 second', now() from generate_series(0, 199, 7) n
           )
           delete from slots where id <= 2000 and id % 40 = $1`,
          [turn],
        );
      }
    };
    const writers = [3, 23].map(write);
    const seen = (await pagesOf(database, { limit: 37, order })).flat();
    walk.isOver = true;
    await Promise.all(writers);
    expect(new Set(seen).size).toBe(seen.length);
    const stayed = Array.from({ length: 2_000 }, (_, index) => index + 1).filter((id) => id % 20 !== 3);
    const first = seen.filter((id) => id <= 2_000 && id % 20 !== 3);
    expect(first).toEqual(order === SlotOrder.SOONEST_FIRST ? stayed : stayed.toReversed());
    expect(seen.length).toBeGreaterThan(stayed.length);
  });

  it('Pages lose and repeat no slot at the ends of time, a microsecond apart', async () => {
    await own.sql(`insert into slots (delivery_time, freeze_time) select time, now() from (
        select timestamptz '9999-12-31T23:59:59.999983Z' + n / 2 * interval '1 microsecond' as time from generate_series(0, 31) n
        union all select timestamptz '0001-01-01Z' + n / 2 * interval '1 microsecond' from generate_series(0, 31) n
      ) as times`);
    const rows = await own.sql<{ id: number }>('select id from slots order by delivery_time, id');
    const expected = rows.map(({ id }) => id);
    expect(expected).toHaveLength(64);
    for (const limit of [1, 3]) {
      expect((await pagesOf(database, { limit })).flat()).toEqual(expected);
      expect((await pagesOf(database, { limit, order: SlotOrder.LATEST_FIRST })).flat()).toEqual(expected.toReversed());
    }
    const last = { deliveryFrom: '9999-12-31T23:59:59.999Z', limit: 5 };
    expect((await pagesOf(database, last)).flat()).toEqual(expected.slice(-32));
  });

  it.each<[string, string, number[]]>([
    [
      '1,000,000 products',
      `insert into product_slots select s, p from generate_series(2, 4) s, generate_series(1, 400000) p`,
      [3, 2],
    ],
    [
      '100,000 snippets',
      `insert into vendor_snippets (slot_id, snippet_code, product_ids)
       select s, 'snippet ' || s || '-' || n, '{1}' from generate_series(2, 4) s, generate_series(1, 40000) n`,
      [3, 2],
    ],
    [
      'about 260,000 groups',
      `update slots set group_ids = array(select generate_series(1, 100000)) where id between 2 and 4`,
      [3, 2],
    ],
  ])('A page ends before its slots have %s, and the next one goes on', async (_what, fill, sizes) => {
    await own.sql(`insert into slots (delivery_time, freeze_time) select now() + n * interval '1 day', now()
      from generate_series(1, 5) n`);
    await own.sql(fill);
    const pages = await pagesOf(database, {});
    expect(pages.flat()).toEqual([1, 2, 3, 4, 5]);
    expect(pages.map(({ length }) => length)).toEqual(sizes);
    const { slots } = await list(database, {});
    expect(slots[1]?.productCount ?? 0).toBeOneOf([0, 400_000]);
    expect(slots[1]?.snippetCodes.length).toBeOneOf([0, 40_000]);
  });

  it('A slot with more snippets than a page shows is shown alone, with 100,000 of them', async () => {
    await own.sql(`insert into slots (delivery_time, freeze_time) select now() + n * interval '1 day', now()
      from generate_series(1, 2) n`);
    await own.sql(`insert into vendor_snippets (slot_id, snippet_code, product_ids)
      select 1, 'snippet ' || n, '{1}' from generate_series(1, 100001) n`);
    expect(await pagesOf(database, {})).toEqual([[1], [2]]);
    expect((await list(database, { limit: 1 })).slots[0]?.snippetCodes).toHaveLength(100_000);
  });
});
