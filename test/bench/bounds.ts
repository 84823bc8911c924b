import { migrate } from '../../shared/db/migrate.ts';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { ImportService } from '../../shared/gen/catalog/v1/import_service_pb.ts';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { signToken } from '../support/tokens.ts';
import { mainOf, root } from './calls-stage.ts';
import { runSql } from './client.ts';
import type { BenchPostgres } from './data-postgres.ts';
import { onPostgres, tableHead, tableRow, temporaryFolder } from './program.ts';
import { environmentOf, startServer } from './servers.ts';

// npm run bench:bounds: how long a call of each procedure takes that asks for as much as it may, in the mix that takes longest,
// on an idle process and beside the rows of a business: the best of five. And how long small calls of another caller take
// meanwhile (docs/limits.md). The services have core 0. Needs taskset.

const repetitions = 5;
/** `-- plan|stores` measures only the calls of these names. */
const only = process.argv[2];
const idsPerList = 100_000;
const times = { deliveryTime: '2126-01-02T10:00:00Z', freezeTime: '2126-01-01T10:00:00Z' };

/** The slots of some years: their products make an index of 5,000,000 rows. */
const pastSlots = `
  insert into slots (id, delivery_time, freeze_time, is_active)
    select id, '2020-01-01', '2020-01-01', false from generate_series(100001, 110000) id;
  insert into product_slots select s, (s * 7919 + p * 397) % 200000 + 1 from generate_series(100001, 110000) s, generate_series(1, 500) p;`;

/** Ten slots with 100,000 products each, of which the first has snippets with 900,000 ids. */
const slotData = `${pastSlots}
  insert into products (id, name) select id, 'p' from generate_series(1, ${2 * idsPerList}) id;
  insert into slots (id, delivery_time, freeze_time)
    select id, '${times.deliveryTime}', '${times.freezeTime}' from generate_series(1, 10) id;
  insert into product_slots select s, p from generate_series(1, 10) s, generate_series(1, case s when 1 then ${idsPerList} else 66000 end) p;
  insert into vendor_snippets (slot_id, snippet_code, product_ids)
    select 1, 'snippet ' || s, array(select generate_series(1, ${idsPerList} - 1)) from generate_series(1, 9) s;
  insert into vendor_snippets (slot_id, snippet_code, product_ids)
    select 10, 'code ' || s, '{1}' from generate_series(1, ${idsPerList} - 1) s;
  select setval('slots_id_seq', 1000);`;

/**
 * The same; ten slots with as many products, groups and snippets as one call copies; and 1,000 slots as staff have them: with
 * 20 products and 3 snippets.
 */
const planData = `${slotData}
  insert into slots (id, delivery_time, freeze_time, group_ids)
    select id, timestamptz '2126-01-01Z' + id * interval '1 minute', '2126-01-01Z', array(select generate_series(1, 20000)) from generate_series(21, 30) id;
  insert into product_slots select s, p * 7 from generate_series(21, 30) s, generate_series(1, 28000) p;
  insert into vendor_snippets (slot_id, snippet_code, product_ids)
    select s, 'stop ' || s || ' ' || n, array[n] from generate_series(21, 30) s, generate_series(1, 2000) n;
  insert into slots (id, delivery_time, freeze_time, group_ids)
    select id, timestamptz '2126-02-01Z' + id * interval '10 minutes', '2126-01-01Z', '{1,2}' from generate_series(10001, 11000) id;
  insert into product_slots select s, p from generate_series(10001, 11000) s, generate_series(1, 20) p;
  insert into vendor_snippets (slot_id, snippet_code, product_ids)
    select s, 'run ' || s || ' ' || n, '{1,2}' from generate_series(10001, 11000) s, generate_series(1, 3) n;
  select setval('slots_id_seq', 20000);`;

/** Sequences of 2 MB. */
const sequenceData = `
  insert into slots (id, delivery_time, freeze_time, delivery_sequence)
    select id, '${times.deliveryTime}', '${times.freezeTime}', sequence
    from generate_series(1, 15) id, (
      select jsonb_object_agg(u, (select jsonb_agg(100000 + i) from generate_series(1, 1200) i)) as sequence
      from generate_series(1, 200) u
    ) as large;`;

/** 1,000 products, each in 100 slots with 49 products: the answer shows 5,000,000 slots and product ids. */
const storeData = `
  insert into slots (id, delivery_time, freeze_time)
    select id, '${times.deliveryTime}', '${times.freezeTime}' from generate_series(1, 2000) id;
  insert into product_slots select s, (s + p * 20) % 1000 + 1 from generate_series(1, 2000) s, generate_series(1, 49) p;`;

const catalogData = `
  insert into products (id, name, images)
    select id, 'product', array['https://images.example/' || id || '.jpg'] from generate_series(1, 1000000) id;
  insert into product_groups (id, name) select id, 'group ' || id from generate_series(1, 10000) id;
  insert into staff_users (id, name) select id, 'staff ' || id from generate_series(2, 10000) id;
  insert into users (id, name, mobile) select id, 'user', id from generate_series(1, 1000000) id;
  insert into orders (id, user_id, total_amount) select id, id, 100 from generate_series(1, 1000000) id;
  insert into coupons (id, coupon_code, created_by) select id, 'CODE' || id, 1 from generate_series(1, 1000) id;
  insert into order_statuses (order_id, refund_coupon_id) select id, id from generate_series(1, 1000) id;
  insert into slots (id, delivery_time, freeze_time) values (1, now(), now());
  insert into vendor_snippets (slot_id, snippet_code, product_ids)
    select 1, 'snippet ' || id, '{}' from generate_series(1, 1000000) id;`;

const externalIds = `insert into users (id, external_id) select id, 'key-' || id from generate_series(1, 1000000) id`;

/** With the links of 20,000 coupons to 100 users each, as staff have given them over the years. */
const couponData = `
  insert into users (id, name, mobile) select id, 'user', (6000000000 + id)::text from generate_series(1, 1000000) id;
  insert into products (id, name) select id, 'p' from generate_series(1, ${idsPerList}) id;
  insert into coupons (id, coupon_code, discount_percent, created_by)
    select id, 'CODE' || id, 5, 1 from generate_series(1, 1000) id;
  insert into coupon_applicable_products (coupon_id, product_id)
    select c, p from generate_series(1, 1000) c, generate_series(1, 100) p;
  insert into coupons (id, coupon_code, discount_percent, created_by, created_at)
    select id, 'PAST' || id, 5, 1, '2019-01-01' from generate_series(100001, 120000) id;
  insert into coupon_applicable_users (coupon_id, user_id)
    select c, (c * 7919 + u * 397) % 1000000 + 1 from generate_series(100001, 120000) c, generate_series(1, 100) u;
  insert into coupons (id, coupon_code, discount_percent, created_by, created_at) values (1001, 'LARGE', 5, 1, '2020-01-01');
  insert into coupon_applicable_products (coupon_id, product_id) select 1001, p from generate_series(1, ${idsPerList}) p;
  insert into reserved_coupons (id, secret_code, coupon_code, discount_percent, product_ids, created_by)
    select id, 'SECRET' || id, 'CODE', 5, array(select generate_series(1, 100)), 1 from generate_series(1, 1000) id;
  insert into orders (id, user_id, total_amount) select id, 1, 100 from generate_series(1, 10) id;
  insert into order_statuses (order_id, is_cancelled) select id, true from generate_series(1, 10) id;
  select setval('coupons_id_seq', 200000), setval('reserved_coupons_id_seq', 2000), setval('users_id_seq', 2000000);`;

/**
 * A million bookings of 1,000 slots; of another slot 10,000, whose holds run out while the bench runs, and 100,000 of one
 * order.
 */
const bookingData = `
  insert into slots (id, delivery_time, freeze_time, capacity)
    select id, '${times.deliveryTime}', '${times.freezeTime}', 1000000 from generate_series(1, 1002) id;
  insert into slot_bookings (slot_id, order_key, user_id, units, state, held_until, created_at)
    select 1 + id % 1000, 'o' || id, 1, 1, case when id % 2 = 0 then 'HELD' else 'BOOKED' end,
      case when id % 2 = 0 then now() + interval '1 day' end, now()
    from generate_series(1, 1000000) id;
  insert into slot_bookings (slot_id, order_key, units, state, held_until, created_at)
    select 1001, 'h' || id, 1, 'HELD', now() + id * interval '1 ms', now() from generate_series(1, 10000) id;
  insert into slot_bookings (slot_id, order_key, units, state, created_at)
    select 1002, 'crowd', 1, 'RELEASED', now() from generate_series(1, 100000) id;`;

/**
 * A million redemptions, of which one order has 100,000; a coupon and five reserved coupons with 120,000 ids. The coupon has
 * 10,000 more, whose holds run out while the bench runs.
 */
const redemptionData = `${couponData}
  update coupons set is_apply_for_all = true, max_uses = 1000000, product_ids = array(select generate_series(100001, 120000))
    where id = 1001;
  update products set external_id = 'p' || id where id between 90001 and 100000;
  insert into reserved_coupons (id, secret_code, coupon_code, discount_percent, product_ids, created_by)
    select 1000 + id, 'LARGE' || id - 1, 'OWN' || id, 5, array(select generate_series(1, 20000)), 1 from generate_series(1, 5) id;
  insert into reserved_coupon_applicable_products (reserved_coupon_id, product_id)
    select r, p from generate_series(1001, 1005) r, generate_series(1, ${idsPerList}) p;
  insert into redemptions (id, coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at)
    select id, 1 + id % 1000, 1 + id % 100000, case when id % 10 = 0 then 'crowd' else 'order' || id end, 100, 5,
      case when id % 10 = 0 then 'RELEASED' when id > 1000000 then 'HELD' else 'USED' end,
      case when id > 1000000 then now() + interval '1 day' end, now()
    from generate_series(1, 1000010) id;
  insert into redemptions (id, coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at)
    select 1100000 + id, 1001, 1, 'h' || id, 100, 5, 'HELD', now() + id * interval '1 ms', now() from generate_series(1, 10000) id;
  select setval('redemptions_id_seq', 2000000);`;

/**
 * A million used redemptions of 92 days, 100,000 more of a batch, 60,000 uses that no sweep has folded yet, and coupons that all
 * end soon and are nearly used up. A million coupons of batches are newer.
 */
const couponOverviewData = `
  insert into coupons (id, coupon_code, discount_percent, created_by, max_uses, valid_till, created_at)
    select id, 'CODE' || id, 5, 1, 1100, now() + id * interval '1 minute' + interval '1 day', '2020-01-01' from generate_series(1, 1000) id;
  insert into coupons (id, coupon_code, discount_percent, created_by, max_uses, valid_till, created_at)
    select id, 'PAST' || id, 5, 1, 10, now() + id * interval '1 minute', '2019-01-01' from generate_series(100001, 120000) id;
  insert into coupon_batches (name, count, created_by) select 'batch', 10000, 1 from generate_series(1, 100);
  insert into coupons (id, coupon_code, discount_percent, created_by, batch_id)
    select id, 'BATCH' || id, 5, 1, id / 10000 - 99 from generate_series(1000000, 1999999) id;
  insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
    select 1 + id % 1000, 1 + id % 100000, 'o' || id, 100, 5.25, 'USED', now(), now() - id * interval '7.9 s' from generate_series(1, 1000000) id;
  insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
    select 1000000 + id % 10000, 1, 'b' || id, 100, 5, 'USED', now(), now() - interval '1 year' from generate_series(1, 100000) id;
  insert into folded_uses
    select date_bin('15 minutes', used_at, '2000-01-01Z') as quarter, sum(uses), sum(discount_used) from unfolded_uses group by quarter;
  truncate unfolded_uses;
  insert into unfolded_uses select now() - id * interval '0.5 ms', 1, 5 from generate_series(1, 60000) id;`;

/** A million bookings of 10,000 slots of a week, half of them held, and as many past slots. */
const slotOverviewData = `
  insert into slots (id, delivery_time, freeze_time, capacity)
    select id, timestamptz '2126-01-01Z' + id * interval '1 minute', now() + id * interval '1 minute', 1000 from generate_series(1, 10000) id;
  insert into slots (id, delivery_time, freeze_time, is_active)
    select id, timestamptz '2020-01-01Z' + id * interval '1 minute', '2020-01-01Z', false from generate_series(10001, 100000) id;
  insert into slot_bookings (slot_id, order_key, units, state, held_until, created_at)
    select 1 + id % 10000, 'o' || id, 1, case when id % 3 = 0 then 'HELD' else 'BOOKED' end,
      case when id % 3 = 0 then now() + interval '1 day' end, now()
    from generate_series(1, 1000000) id;`;

/** 2,000 entries of each type, of which 1,000 have 4 MiB: lists of numbers of one digit. */
const auditData = `
  insert into audit_entries (procedure, subject, request_id, resource_type, resource_id, after, shown_bytes)
    select 'p', 's', 'r', type, 1, after, octet_length(after::text)
    from generate_series(1, 2000), unnest(array['coupon', 'reserved_coupon', 'user']) as type,
      (select json_build_object('ids', array_fill(1, array[2080])) as after) as change;`;

const staff = `insert into staff_users (id, name) values (1, 'staff')`;

/** What is asked in the turns of a call: the odd ones may undo what the even ones did. */
type Ask = (turn: number) => object;
type Calls = readonly (readonly [procedure: string, ask: Ask])[];

const idsFrom = (first: number, count = idsPerList) => Array.from({ length: count }, (_, at) => first + at);
/** One list of ids in one turn, another one in the next. */
const otherIds = (turn: number) => idsFrom(1 + ((turn + 1) % 2) * idsPerList);
const sequence = (turn: number) => ({ 1: idsFrom(turn, 119_000).map((id) => id + 10_000_000) });

const slotCalls: Calls = [
  ['GetAll', () => ({})],
  ['GetSlotById', () => ({ id: 1 })],
  ['GetSlotsProductIds', () => ({ slotIds: idsFrom(1) })],
  ['CreateSlot', () => ({ ...times, productIds: idsFrom(1) })],
  ['UpdateSlot', (turn) => ({ id: 2, ...times, productIds: { ids: otherIds(turn) } })],
  ['UpdateSlotProducts', (turn) => ({ slotId: 3, productIds: otherIds(turn) })],
  ['UpdateSlotCapacity', (turn) => ({ slotId: 4, isCapacityFull: turn % 2 === 0 })],
  ['DeleteSlot', (turn) => ({ id: 5 + turn })],
];
const sequenceCalls: Calls = [
  ['GetSlots', () => ({})],
  ['GetDeliverySequence', (turn) => ({ id: String(1 + turn) })],
  ['UpdateDeliverySequence', (turn) => ({ id: 1, deliverySequence: sequence(turn) })],
];
const week = { deliveryFrom: '2126-02-01', deliveryUntil: '2127-01-01', snippetName: '{name} {date}' };
const planCalls: Calls = [
  ['ListSlots', () => ({ limit: 1_000, order: 'SLOT_ORDER_LATEST_FIRST' })],
  ['CopySlots, 1,000 slots', (turn) => ({ ...week, shiftDays: 300 + turn })],
  [
    'CopySlots, 300,000 products, 200,000 groups, 20,000 snippets',
    (turn) => ({ slotIds: idsFrom(21, 10), shiftDays: 100 + turn, snippetName: '{name} {date}' }),
  ],
  ['UpdateSlots', (turn) => ({ slots: idsFrom(10_001, 500).map((id) => ({ id })), isCapacityFull: turn % 2 === 0 })],
];
const storeCalls: Calls = [
  // Another order each time: a kept answer would not be encoded again.
  ['GetProductSlots', (turn) => ({ productIds: [...idsFrom(turn + 2, 999 - turn), ...idsFrom(1, turn + 1)] })],
  ['GetOpenSlots', () => ({})],
  ['GetStoreStatus', () => ({})],
];
const catalogCalls: Calls = [
  ['SearchProducts', () => ({ limit: 50, offset: 999_949 })],
  ['GetProducts', () => ({ productIds: idsFrom(1, 1_000) })],
  ['ListProductGroups', () => ({})],
  ['GetUsers', () => ({ userIds: idsFrom(1, 1_000) })],
  ['ListStaff', () => ({})],
  ['GetOrders', () => ({ orderIds: idsFrom(1, 1_000) })],
  ['SearchSnippets', () => ({ search: 's', limit: 50 })],
];
/** 1,000 records of a business: new ones in the even turns, changed ones in the odd. */
const imported = (turn: number) =>
  idsFrom(1_000 * (turn - (turn % 2)), 1_000).map((n) => ({ externalId: `key-${n}`, name: `Record ${n} ${turn}` }));
const importCalls: Calls = [
  ['ImportUsers', (turn) => ({ users: imported(turn).map((user, n) => ({ ...user, mobile: `m-${turn}-${n}` })) })],
  ['ImportProducts', (turn) => ({ products: imported(turn) })],
  ['ImportProductGroups', (turn) => ({ groups: imported(turn) })],
  [
    'ImportOrders',
    (turn) => ({ orders: imported(turn).map(({ externalId }) => ({ externalId, totalAmount: `${1 + turn}` })) }),
  ],
];
const resolveCalls: Calls = [['Resolve', () => ({ userExternalIds: idsFrom(1, 1_000).map((id) => `key-${id}`) })]];

const couponCalls: Calls = [
  ['GetAll', () => ({ limit: 1_000 })],
  ['GetById', () => ({ id: 1001 })],
  ['GetReservedCoupons', () => ({ limit: 1_000 })],
  ['GetUsersMiniInfo', () => ({ limit: 50, offset: 999_949 })],
  ['Validate', () => ({ code: 'LARGE', userId: 1, orderAmount: 100 })],
  ['Create', (turn) => ({ coupon: { couponCode: `NEW${turn}`, discountPercent: 5, ...links(1) } })],
  ['Update', (turn) => ({ id: 1001, updates: { coupon: links(1 + turn) } })],
  ['CreateReservedCoupon', () => ({ coupon: { discountPercent: 5, ...links(1) } })],
  ['GenerateCancellationCoupon', (turn) => ({ orderId: 1 + turn })],
  ['CreateCoupon', (turn) => ({ mobile: String(9_000_000_000 + turn) })],
  ['Delete', (turn) => ({ id: 1001 - turn })],
];
const largeOrder = { code: 'LARGE', userId: 1, orderAmount: 9 };
const largeLines = idsFrom(91_501, 8_500).map((id) => ({ productExternalId: `p${id}`, amount: id }));
const redemptionCalls: Calls = [
  ['Redeem', (turn) => ({ ...largeOrder, orderKey: `o${turn}`, productIds: idsFrom(90_001, 10_000) })],
  ['Redeem of 8,500 lines', (turn) => ({ ...largeOrder, orderKey: `l${turn}`, lines: largeLines })],
  ['Check of 8,500 lines', (turn) => ({ ...largeOrder, orderKey: `c${turn}`, lines: largeLines })],
  ['Confirm', (turn) => ({ redemptionId: 1_000_001 + turn })],
  ['Release', (turn) => ({ redemptionId: 1_000_001 + turn })],
  ['Claim', (turn) => ({ secretCode: `LARGE${turn}`, userId: 1 })],
  ['ListRedemptions', () => ({ limit: 1_000 })],
  ['ListRedemptions of an order', () => ({ limit: 1_000, orderKey: 'crowd' })],
  ['GetUsage', () => ({ couponIds: idsFrom(1, 1_000) })],
];
const bookingCalls: Calls = [
  ['Book', (turn) => ({ slotId: 1_001, orderKey: `n${turn}` })],
  ['Confirm', (turn) => ({ bookingId: 2 + 2 * turn })],
  ['Release', (turn) => ({ bookingId: 2 + 2 * turn })],
  ['Move', (turn) => ({ bookingId: 1_002 + 2 * turn, slotId: 1_001 })],
  ['GetAvailability', () => ({ slotIds: idsFrom(3, 1_000) })],
  ['ListBookings', () => ({ limit: 1_000 })],
  ['ListBookings of an order', () => ({ limit: 1_000, orderKey: 'crowd' })],
];
const batchCalls: Calls = [
  ['CreateBatch', () => ({ count: 10_000, coupon: { discountPercent: 5 } })],
  [
    'CreateBatch, 100,000 links, 1,000,000 with the product ids',
    () => ({ count: 10_000, coupon: { discountPercent: 5, ...batchIds } }),
  ],
  ['GetBatch', (turn) => ({ id: 1 + turn, limit: 1_000 })],
  ['ListBatches', () => ({ limit: 1_000 })],
  ['InvalidateBatch', (turn) => ({ id: 1 + turn })],
];
const batchIds = {
  applicableUsers: { ids: idsFrom(1, 5) },
  applicableProducts: { ids: idsFrom(1, 5) },
  productIds: { ids: idsFrom(1, 90) },
};
const days = (count: number) => ({
  from: new Date(Date.now() - (count - 1) * 86_400_000).toISOString().slice(0, 10),
  until: new Date(Date.now() + 1).toISOString(),
});
const couponOverviewCalls: Calls = [
  ['GetOverview', () => days(92)],
  ['GetOverview, in a time zone', () => ({ ...days(91), timeZone: 'Asia/Kolkata' })],
  ['ListRedemptions, with_total', () => ({ limit: 1, withTotal: true })],
  ['ListRedemptions, with_total, of 1,000', () => ({ limit: 1, withTotal: true, couponId: 7 })],
];
const couponListCalls: Calls = [
  ['GetAll, without_batch', () => ({ withoutBatch: true })],
  ['GetAll, without_batch, with_total', () => ({ withoutBatch: true, withTotal: true })],
  ['GetAll, with_total', () => ({ limit: 1, withTotal: true })],
  ['GetAll, without_batch, a term of few', () => ({ withoutBatch: true, search: 'code77', withTotal: true })],
  ['GetAll, without_batch, a term of batches', () => ({ withoutBatch: true, search: 'BATCH', withTotal: true })],
  ['GetAll, a term of many, with_total', () => ({ limit: 1, search: 'BATCH1', withTotal: true })],
];
const batchUsageCalls: Calls = [['GetBatch, with_usage', () => ({ id: 1, limit: 1, withUsage: true })]];
const slotOverviewCalls: Calls = [
  ['GetOverview', () => ({ from: '2126-01-01', until: '2126-01-09' })],
  ['ListSlots, with_total', () => ({ limit: 1, withTotal: true })],
];
const bookingTotalCalls: Calls = [['ListBookings, with_total', () => ({ limit: 1, withTotal: true })]];
const auditCalls: Calls = [['ListEntries', () => ({ limit: 1_000 })]];
const links = (first: number) => ({ applicableProducts: { ids: idsFrom(first, idsPerList - 10) } });

const folder = temporaryFolder();
const token = await signToken({ staffId: 1 });
const bystander = await signToken({ staffId: 1, subject: 'another' });
/** A small call of another caller. */
const smallCalls = {
  slot: ['slot.v1.SlotService/GetSlotsProductIds', { slotIds: [0] }],
  coupon: ['coupon.v1.CouponService/Validate', { code: 'NONE', userId: 1, orderAmount: 1 }],
} as const;
const measured: readonly (readonly ['slot' | 'coupon', string, string, string, Calls])[] = [
  ['slot', SlotService.typeName, 'slots', slotData, slotCalls],
  ['slot', SlotPlanService.typeName, 'plan', planData, planCalls],
  ['slot', SlotService.typeName, 'sequences', sequenceData, sequenceCalls],
  ['slot', SlotBookingService.typeName, 'bookings', bookingData, bookingCalls],
  ['slot', SlotStoreService.typeName, 'stores', storeData, storeCalls],
  ['slot', CatalogService.typeName, 'catalog', catalogData, catalogCalls],
  ['slot', ImportService.typeName, 'imports', catalogData, importCalls],
  ['slot', CatalogService.typeName, 'resolve', externalIds, resolveCalls],
  ['coupon', CouponService.typeName, 'coupons', couponData, couponCalls],
  ['coupon', RedemptionService.typeName, 'redemptions', redemptionData, redemptionCalls],
  ['coupon', CouponBatchService.typeName, 'batches', couponData, batchCalls],
  ['coupon', AuditService.typeName, 'entries', auditData, auditCalls],
  ['coupon', RedemptionService.typeName, 'redemption_overview', couponOverviewData, couponOverviewCalls],
  ['coupon', CouponService.typeName, 'coupon_lists', couponOverviewData, couponListCalls],
  ['coupon', CouponBatchService.typeName, 'batch_usage', couponOverviewData, batchUsageCalls],
  ['slot', SlotPlanService.typeName, 'slot_overview', slotOverviewData, slotOverviewCalls],
  ['slot', SlotBookingService.typeName, 'booking_totals', slotOverviewData, bookingTotalCalls],
];
await onPostgres(async (postgres) => {
  const figures = ['request, bytes', 'answer, bytes', 'ms', 'p95 of another caller, ms'];
  console.log(tableHead(['procedure', ...figures]));
  for (const each of measured)
    if (only === undefined || only.split('|').includes(each[2])) await measure(postgres, ...each);
});

async function measure(
  postgres: BenchPostgres,
  service: 'slot' | 'coupon',
  typeName: string,
  name: string,
  data: string,
  calls: Calls,
): Promise<void> {
  const databaseUrl = await postgres.createDatabase(name);
  await migrate(databaseUrl);
  await runSql(databaseUrl, staff, data, 'vacuum analyze');
  const env = { PATH: process.env.PATH, ...environmentOf(service, databaseUrl) };
  const server = await startServer(name, [mainOf(root, service)], env, folder);
  try {
    for (const [procedure, ask] of calls) {
      const origin = `http://127.0.0.1:${server.webPort}`;
      const url = `${origin}/${typeName}/${procedure.split(/,| of /)[0]}`;
      const [small, request] = smallCalls[service];
      const answers: Awaited<ReturnType<typeof call>>[] = [];
      const besideMs: number[] = [];
      for (let turn = 0; turn < repetitions; turn += 1) {
        let isAnswered = false;
        const asked = call(url, JSON.stringify(ask(turn))).finally(() => {
          isAnswered = true;
        });
        while (!isAnswered) besideMs.push((await call(`${origin}/${small}`, JSON.stringify(request), bystander)).ms);
        answers.push(await asked);
      }
      const of = (field: 'requestBytes' | 'answerBytes' | 'ms') => Math.min(...answers.map((answer) => answer[field]));
      const p95 = besideMs.toSorted((left, right) => left - right)[Math.floor(besideMs.length * 0.95)] ?? 0;
      console.log(tableRow([procedure, of('requestBytes'), of('answerBytes'), of('ms').toFixed(0), p95.toFixed(0)]));
    }
  } finally {
    await server.stop();
  }
}

async function call(url: string, json: string, caller = token) {
  const start = performance.now();
  // Large lists are asked for in the binary form, in which nothing is empty.
  const [type, body] = json === '{}' ? ['application/proto', ''] : ['application/json', json];
  const headers = { 'content-type': type, authorization: `Bearer ${caller}` };
  const response = await fetch(url, { method: 'POST', headers, body });
  const answer = await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url}: ${Buffer.from(answer).toString()}`);
  return { requestBytes: body.length, answerBytes: answer.byteLength, ms: performance.now() - start };
}
