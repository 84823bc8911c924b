import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type ListSlotsRequestSchema,
  SlotOrder,
  SlotPlanService,
  SlotState,
} from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { expectError, expectInvalidField, slotContract } from '../../support/contract.ts';
import { readPages } from '../../support/pages.ts';
import { post } from '../../support/post.ts';
import { signToken } from '../../support/tokens.ts';

type Asked = MessageInitShape<typeof ListSlotsRequestSchema>;
const { ACTIVE, INACTIVE, UNSPECIFIED } = SlotState;
const { SOONEST_FIRST, LATEST_FIRST } = SlotOrder;
/** Of no state, and of no order. */
const unknown: number = 3;
const start = Date.parse('2030-05-01T10:00:00Z');

slotContract('ListSlots', (api) => {
  const plan = () => createClient(SlotPlanService, api.transportAs('staff'));
  const page = async (asked: Asked) => {
    const { slots, nextPageToken } = await plan().listSlots(asked);
    return { ids: slots.map(({ id }) => id), nextPageToken };
  };
  const idsOf = async (asked: Asked) => (await page(asked)).ids;
  /** Adds a slot with a delivery time in microseconds after the start. */
  const add = (id: number, micros: number, { isActive = true, isFull = false, groupIds = [0] } = {}) =>
    api.sql(
      `insert into slots (id, delivery_time, freeze_time, is_active, is_capacity_full, group_ids)
       values ($1, timestamptz '2030-05-01T10:00Z' + $2::bigint * interval '1 microsecond', '2030-05-01Z', $3, $4, $5)`,
      [id, micros, isActive, isFull, `{${groupIds.join()}}`],
    );
  /** The ids of all pages. */
  const walk = async (asked: Asked) =>
    (await readPages((pageToken) => page({ ...asked, pageToken }))).flatMap(({ ids }) => ids);

  beforeEach(async () => {
    await api.sql('delete from vendor_snippets; delete from product_slots; delete from slots');
  });

  it('The list is empty when there is no slot', async () => {
    expect(await page({})).toEqual({ ids: [], nextPageToken: '' });
  });

  it('A slot has its own fields, a count of its products, the first three names and its snippets by code', async () => {
    await add(7, 250_000, { isFull: true, groupIds: [4, 2] });
    await add(8, 300_000, { groupIds: [] });
    await api.sql(`insert into products (id, name) select id, 'Product ' || id from generate_series(11, 15) id
      on conflict (id) do update set name = excluded.name`);
    await api.sql(
      `insert into product_slots values (7, 15), (7, 14), (7, 9999), (7, 13), (7, 10001), (7, 12), (8, 9999)`,
    );
    await api.sql(`insert into vendor_snippets (snippet_code, slot_id, product_ids)
      values ('b', 7, '{1}'), ('a', 7, '{1}'), ('B', 7, '{1}'), ('é', 7, '{1}')`);
    const [slot, other, ...more] = (await plan().listSlots({})).slots;
    expect(more).toEqual([]);
    expect(slot).toMatchObject({ id: 7, isActive: true, isCapacityFull: true, groupIds: [4, 2], productCount: 6 });
    expect(slot?.deliveryTime && timestampDate(slot.deliveryTime)).toEqual(new Date('2030-05-01T10:00:00.250Z'));
    expect(slot?.freezeTime && timestampDate(slot.freezeTime)).toEqual(new Date('2030-05-01T00:00:00Z'));
    expect(slot?.productNames).toEqual(['Product 12', 'Product 13', 'Product 14']);
    expect(slot?.snippetCodes).toEqual(['B', 'a', 'b', 'é']);
    expect(slot?.etag).toBe((await api.staff.getSlotById({ id: 7 })).slot?.etag);
    expect(other).toMatchObject({ id: 8, groupIds: [], productCount: 1, productNames: [], snippetCodes: [] });
  });

  it('An etag of the list is taken by a write, and an outdated one is not', async () => {
    await add(1, 0);
    const [slot] = (await plan().listSlots({})).slots;
    const guarded = { slotId: 1, isCapacityFull: true, etag: slot?.etag ?? '' };
    expect((await api.staff.updateSlotCapacity(guarded)).success).toBe(true);
    await expectError(api.staff.updateSlotCapacity({ ...guarded, isCapacityFull: false }), 'ETAG_MISMATCH');
  });

  it('Slots are ordered by delivery time, then id, both rising or both falling', async () => {
    for (const [id, micros] of [
      [5, 2],
      [3, 2],
      [9, 1],
      [4, 3],
      [1, 2],
    ] as const)
      await add(id, micros);
    const soonest = [9, 1, 3, 5, 4];
    expect(await idsOf({})).toEqual(soonest);
    expect(await idsOf({ order: SOONEST_FIRST })).toEqual(soonest);
    expect(await idsOf({ order: LATEST_FIRST })).toEqual(soonest.toReversed());
  });

  describe('Filters', () => {
    const minute = 60_000_000;
    const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString();

    beforeEach(async () => {
      for (let id = 1; id <= 12; id += 1) {
        await add(id, id * minute, { isActive: id % 4 !== 0, isFull: id % 3 === 0, groupIds: id % 2 ? [6, 5] : [7] });
      }
      await api.sql('insert into product_slots values (2, 1), (3, 1), (4, 1), (5, 2), (6, 9999), (2, 9999), (99, 1)');
    });

    it.each<[string, Asked, number[]]>([
      ['none, which shows the active ones', {}, [1, 2, 3, 5, 6, 7, 9, 10, 11]],
      ['delivery_from, which is included', { deliveryFrom: at(9) }, [9, 10, 11]],
      ['delivery_until, which is not', { deliveryUntil: at(3) }, [1, 2]],
      ['an interval', { deliveryFrom: at(3), deliveryUntil: at(6) }, [3, 5]],
      [
        'an interval of a millisecond',
        { deliveryFrom: at(3), deliveryUntil: new Date(start + 180_001).toISOString() },
        [3],
      ],
      ['an interval without length', { deliveryFrom: at(3), deliveryUntil: at(3) }, []],
      ['an interval that ends before it begins', { deliveryFrom: at(6), deliveryUntil: at(3) }, []],
      [
        'times in another zone',
        { deliveryFrom: '2030-05-01T15:31:00+05:30', deliveryUntil: '2030-05-01T10:03Z' },
        [1, 2],
      ],
      ['empty times, which are none', { deliveryFrom: '', deliveryUntil: '' }, [1, 2, 3, 5, 6, 7, 9, 10, 11]],
      ['a day', { deliveryFrom: '2030-05-01', deliveryUntil: '2030-05-02', limit: 2 }, [1, 2]],
      ['states: active', { states: [ACTIVE] }, [1, 2, 3, 5, 6, 7, 9, 10, 11]],
      ['states: inactive', { states: [INACTIVE, INACTIVE] }, [4, 8, 12]],
      ['is_capacity_full', { isCapacityFull: true }, [3, 6, 9]],
      ['not is_capacity_full', { isCapacityFull: false }, [1, 2, 5, 7, 10, 11]],
      ['product_id', { productId: 1 }, [2, 3]],
      ['product_id and states', { productId: 1, states: [ACTIVE, INACTIVE] }, [2, 3, 4]],
      ['product_id of no product', { productId: 9999 }, [2, 6]],
      ['product_id of no slot', { productId: 0 }, []],
      ['group_id', { groupId: 5 }, [1, 3, 5, 7, 9, 11]],
      ['group_id and product_id', { groupId: 7, productId: 1 }, [2]],
    ])('Slots are filtered by %s', async (_name, filters, expected) => {
      expect(await idsOf(filters)).toEqual(expected);
      if (filters.limit === undefined) {
        expect(await idsOf({ ...filters, order: LATEST_FIRST })).toEqual(expected.toReversed());
        expect(await walk({ ...filters, limit: 1 })).toEqual(expected);
        expect(await walk({ ...filters, limit: 2, order: LATEST_FIRST })).toEqual(expected.toReversed());
        const { total, nextPageToken: pageToken } = await plan().listSlots({ ...filters, limit: 1, withTotal: true });
        expect(total).toBe(expected.length);
        if (expected.length > 1)
          expect((await plan().listSlots({ ...filters, pageToken, withTotal: true })).total).toBe(total);
      }
    });
  });

  it('A page has 50 slots, and as many as asked for up to 1,000', async () => {
    await api.sql(`insert into slots (id, delivery_time, freeze_time)
      select id, timestamptz '2030-05-01Z' + id * interval '1 minute', '2030-05-01Z' from generate_series(1, 1001) id`);
    const rising = Array.from({ length: 1_001 }, (_, index) => index + 1);
    const first = await page({});
    expect(first.ids).toEqual(rising.slice(0, 50));
    expect(first.nextPageToken).not.toBe('');
    expect(await idsOf({ limit: 1_000 })).toEqual(rising.slice(0, 1_000));
    expect(await walk({ limit: 1_000 })).toEqual(rising);
    expect(await walk({ limit: 143 })).toEqual(rising);
  });

  it('The last page has no token, also where it is full', async () => {
    for (const id of [1, 2, 3]) await add(id, id);
    expect(await page({ limit: 3 })).toEqual({ ids: [1, 2, 3], nextPageToken: '' });
    const { nextPageToken } = await page({ limit: 2 });
    expect(nextPageToken).not.toBe('');
    expect(await page({ limit: 1, pageToken: nextPageToken })).toEqual({ ids: [3], nextPageToken: '' });
  });

  it.each<[string, Asked]>([
    ['limit', { limit: 0 }],
    ['limit', { limit: 1_001 }],
    ['limit', { limit: -1 }],
    ['delivery_from', { deliveryFrom: 'tomorrow' }],
    ['delivery_until', { deliveryUntil: '2026-02-31' }],
    ['delivery_until', { deliveryUntil: '1893456000000' }],
    ['delivery_from', { deliveryFrom: '2030-01-01\0' }],
    ['states[0]', { states: [UNSPECIFIED] }],
    ['states[1]', { states: [ACTIVE, unknown] }],
    ['states[0]', { states: [-unknown] }],
    ['order', { order: unknown }],
    ['page_token', { pageToken: 'garbled' }],
    ['page_token', { pageToken: '💥' }],
  ])('ListSlots refuses another %s: %j', async (field, request) => {
    await expectInvalidField(plan().listSlots(request), field);
  });

  it('A state or an order without such a name is refused in JSON', async () => {
    const token = await signToken({ staffId: 1 });
    for (const [field, request] of [
      ['states', '{"states":["ACTIVE"]}'],
      ['order', '{"order":"SOONEST"}'],
    ] as const) {
      const response = await post(api.ports.webPort, 'ListSlots', token, request, {}, 'slot.v1.SlotPlanService');
      expect(await response.json()).toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining(field),
      });
    }
  });

  describe('Page tokens', () => {
    const filters: Asked = {
      ...{ deliveryFrom: '2030-05-01', deliveryUntil: '2030-05-02', states: [ACTIVE, INACTIVE] },
      ...{ isCapacityFull: false, productId: 1, groupId: 5 },
    };

    it('A page token belongs to its filters and its order, in whatever form they come, and not to its limit', async () => {
      for (const id of [1, 2, 3, 4]) await add(id, id, { groupIds: [5] });
      await api.sql('insert into product_slots select id, 1 from slots');
      const { nextPageToken: pageToken } = await page({ ...filters, limit: 2 });
      const rest = { ids: [3, 4], nextPageToken: '' };
      expect(await page({ ...filters, limit: 1_000, pageToken })).toEqual(rest);
      expect(await page({ ...filters, order: SOONEST_FIRST, pageToken })).toEqual(rest);
      expect(await page({ ...filters, states: [INACTIVE, ACTIVE, ACTIVE], pageToken })).toEqual(rest);
      expect(await page({ ...filters, deliveryFrom: '2030-05-01T02:00+02:00', pageToken })).toEqual(rest);
      const others: Asked[] = [
        { order: LATEST_FIRST },
        { deliveryFrom: '' },
        { deliveryFrom: '2030-05-01T00:00:00.001Z' },
        { deliveryUntil: '' },
        { deliveryFrom: filters.deliveryUntil ?? '', deliveryUntil: filters.deliveryFrom ?? '' },
        { states: [] },
        { states: [INACTIVE] },
        { isCapacityFull: true },
        { productId: 2 },
        { groupId: 6 },
        { productId: 5, groupId: 1 },
      ];
      for (const other of others) {
        await expectInvalidField(plan().listSlots({ ...filters, ...other, pageToken }), 'page_token');
      }
      for (const left of ['isCapacityFull', 'productId', 'groupId'] as const) {
        const { [left]: _, ...fewer } = filters;
        await expectInvalidField(plan().listSlots({ ...fewer, pageToken }), 'page_token');
      }
      const flipped = pageToken.replace(/^./, (first) => (first === 'M' ? 'N' : 'M'));
      for (const garbled of [flipped, `${pageToken}A`, pageToken.slice(0, -1)]) {
        await expectInvalidField(plan().listSlots({ ...filters, pageToken: garbled }), 'page_token');
      }
    });
  });
});
