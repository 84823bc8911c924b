import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compare, decimal } from '../../services/coupon-service/coupons/decimals.ts';
import { type JudgedCoupon, judgedColumns, orderDiscountOf } from '../../services/coupon-service/coupons/judgement.ts';
import { seedDemo } from '../../services/dev/seed/seed.ts';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { runService } from '../support/running-service.ts';

const holds = `
  select slot_id as owner, order_key, user_id, state, held_until, created_at, booked_at as confirmed_at, released_at
  from slot_bookings
  union all select coupon_id, order_key, user_id, state, held_until, created_at, used_at, released_at from redemptions`;

describe.each([2.2, 10.4, 18.9])('The demo that is seeded at %d hours UTC', (hours) => {
  let database: TestDatabase;
  /** The rows of a query, by the clock of the demo. */
  let rows: (sql: string) => Promise<object[]>;

  beforeAll(async () => {
    database = await createDatabase();
    // It comes before PostgreSQL's own function of this name.
    await database.sql(`create schema clock;
      create function clock.now() returns timestamptz language sql stable
      as $$ select date_trunc('day', pg_catalog.now(), 'UTC') + ${hours} * interval '1 hour' $$`);
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=clock,pg_catalog,public');
    expect(await seedDemo(url.href)).toBe(true);
    rows = (sql) => database.sql(sql.replaceAll('now()', 'clock.now()'));
  });
  afterAll(() => database.close());

  it('It has two slots with room that close within two hours, and all slots close before their delivery', async () => {
    const closing = `select capacity > held + booked as "hasRoom" from slots join slot_usage on slot_id = id
      where is_active and not is_capacity_full and freeze_time between now() and now() + interval '2 hours'`;
    const counted = await rows(closing);
    expect(counted).toHaveLength(2);
    expect(counted).toContainEqual({ hasRoom: true });
    expect(await rows('select from slots where freeze_time >= delivery_time')).toEqual([]);
  });

  it('Its bookings fit the capacities, were made before their slots closed, are counted, and are those of the delivery sequences', async () => {
    const counts = `select slot_id, coalesce(sum(units) filter (where state = 'HELD'), 0)::bigint as held,
      coalesce(sum(units) filter (where state = 'BOOKED'), 0)::bigint as booked from slot_bookings group by 1 order by 1`;
    expect(await rows(counts)).toEqual(await rows('select * from slot_usage order by slot_id'));
    const broken = `select slots.id from slots join slot_usage on slot_id = slots.id where held + booked > capacity
      union select slots.id from slot_bookings join slots on slots.id = slot_id
        where slot_bookings.created_at >= freeze_time or slot_bookings.state = 'HELD' and freeze_time <= now()
      union select slots.id from slots, jsonb_each(delivery_sequence) as stop (user_id, orders), jsonb_array_elements(orders) as nr
        where not exists (select from orders join slot_bookings on external_id = order_key and state = 'BOOKED'
          where slot_id = slots.id and orders.id = nr::integer and orders.user_id = stop.user_id::integer)`;
    expect(await rows(broken)).toEqual([]);
  });

  it('Its holds have the times of their states, and the users of their orders', async () => {
    const sound = `case state when 'HELD' then held_until > now() and confirmed_at is null and released_at is null
      when 'EXPIRED' then held_until between created_at and now() and confirmed_at is null
      when 'RELEASED' then released_at between confirmed_at and now()
      else confirmed_at between created_at and now() and held_until is null and released_at is null end`;
    expect(await rows(`select * from (${holds}) as holds where ${sound} is not true or created_at > now()`)).toEqual(
      [],
    );
    const strangers = `select * from (${holds}) as holds left join orders on external_id = order_key
      where holds.user_id is distinct from orders.user_id`;
    expect(await rows(strangers)).toEqual([]);
    const states = await rows(`select distinct state from slot_bookings intersect select state from redemptions`);
    expect(states.map((row) => Object.values(row)[0]).toSorted()).toEqual(['EXPIRED', 'HELD', 'RELEASED']);
  });

  it('Its redemptions keep the terms of their coupons, and are counted', async () => {
    const used = await database.sql<JudgedCoupon & { amount: string; discount: string }>(
      `select coupon.*, order_amount as amount, discount_amount as discount from redemptions
       join (select ${judgedColumns} from coupons) as coupon on coupon.id = coupon_id`,
    );
    expect(used.length).toBeGreaterThan(900);
    const wrong = used.filter(({ amount, discount, ...coupon }) => {
      const given = orderDiscountOf(coupon, decimal(amount), 2);
      return compare(given, decimal(discount)) !== 0 || compare(decimal(amount), decimal(coupon.minOrder ?? 0)) < 0;
    });
    expect(wrong).toEqual([]);
    const broken = `select coupon_id from redemptions join coupons on coupons.id = coupon_id
        where not is_apply_for_all or redemptions.created_at not between greatest(coupons.created_at, starts_at) and
          coalesce(valid_till, 'infinity')
      union select coupon_id from redemptions join coupons on coupons.id = coupon_id group by coupon_id, user_id, max_limit_for_user
        having count(*) > max_limit_for_user
      union select coupon_id from redemptions join coupons on coupons.id = coupon_id group by coupon_id, max_uses
        having count(*) > max_uses`;
    expect(await rows(broken)).toEqual([]);
    const states = ['held', 'used', 'released', 'expired'];
    const counts = `select coupon_id, ${states.map((state) => `count(*) filter (where state = '${state.toUpperCase()}') as ${state}`)},
      coalesce(sum(discount_amount) filter (where state = 'USED'), 0) as discount from redemptions group by 1 order by 1`;
    const usage = `select coupon_id, ${states.map((state) => `sum(${state}) as ${state}`)}, sum(discount_used) as discount
      from coupon_usage group by 1 order by 1`;
    expect(await rows(counts)).toEqual(await rows(usage));
  });

  it('Its pictures need no network and are small, and the ids that the documentation names are free', async () => {
    expect(
      await rows(`select from products where images[1] not like 'data:image/svg+xml,%' or length(images[1]) > 450`),
    ).toEqual([]);
    const last = ['slots', 'coupons', 'users'].map((table) => `(select max(id) from ${table}) as ${table}`);
    expect(await rows(`select ${last}`)).toEqual([{ slots: 69, coupons: 248, users: 200 }]);
  });
});

describe('The services on the demo', () => {
  const slot = runService('slot');
  const coupon = runService('coupon', undefined, undefined, () => slot.database);

  beforeAll(async () => {
    await slot.sql('truncate staff_users, products, product_groups, users cascade');
    await seedDemo(slot.database.url);
  });

  it('They show a week of slots with bookings, the uses of its coupons, and who changed what', async () => {
    const { slots } = await createClient(SlotPlanService, slot.staff).listSlots({ limit: 1_000 });
    expect(slots.filter(({ capacity, booked }) => capacity !== undefined && booked)).not.toHaveLength(0);
    const { usage } = await createClient(RedemptionService, coupon.staff).getUsage({ couponIds: [1] });
    expect(usage[0]?.used).toBeGreaterThan(50);
    for (const { staff } of [slot, coupon]) {
      const { entries } = await createClient(AuditService, staff).listEntries({});
      expect(entries.length).toBeGreaterThan(3);
    }
  });
});
