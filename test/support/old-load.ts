import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { queryOnce } from './postgres-server.ts';

/** What the services of all releases read and write, by the columns that each schema has. `$n` is another number each time. */
const statements = [
  `select slots.*, array(select product_id from product_slots where slot_id = slots.id) from slots where id = 1 + $n % 100`,
  `select id, delivery_time from slots where is_active and delivery_time > '2025-01-02' order by delivery_time limit 20`,
  `select * from coupons where coupon_code = 'COUPON-' || (1 + $n % 100)`,
  `select id, coupon_code from coupons order by created_at desc, id desc limit 20`,
  `select id, name, mobile from users order by nullif(name, '') collate "und-x-icu" nulls last, id limit 20`,
  `with slot as (insert into slots (delivery_time, freeze_time) values ('2040-01-02', '2040-01-01') returning id)
   insert into product_slots select id, $n % 1000 from slot`,
  `update slots set is_capacity_full = not is_capacity_full where id in (select max(id) from slots where delivery_time >= '2040-01-01')`,
  `insert into coupons (coupon_code, flat_discount, created_by) values ('LOAD-$n', 10, 1)`,
  `update coupons set max_value = $n where coupon_code = 'LOAD-' || ($n - 11)`,
  `insert into store_refresh_requests default values`,
];
/** What those of 1.0.0 read and write besides. */
export const statementsOfRelease = [
  `select * from orders where id = 1 + $n % 100`,
  `select id, name from products order by name collate "und-x-icu", id limit 20`,
  `select disabled_at from staff_users where id = 1`,
  `select * from audit_entries where resource_type = 'slot' order by at desc, id desc limit 20`,
  `insert into audit_entries (procedure, subject, staff_id, request_id, resource_type, resource_id, before, after)
   values ('slot.v1.SlotService/UpdateSlot', 'load', 1, 'load', 'slot', $n, '{}', '{}')`,
  `insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
   values (1900000000 + $n, 1 + $n % 100, 'load-$n', 100, 10, 'USED', now(), now())`,
  `update redemptions set state = 'RELEASED', released_at = now() where order_key = 'load-' || ($n - 17)`,
  `insert into coupon_applicable_users (coupon_id, user_id) values (1 + $n % 100, 200 + $n)`,
];
/** What takes back all that these have written. */
const undoOfRelease = `
  select set_config('audit.sweeping', 'on', true);
  delete from audit_entries where subject = 'load';
  delete from redemptions where order_key like 'load-%'; delete from coupon_usage where coupon_id > 1900000000;
  delete from coupon_applicable_users where coupon_id <= 100 and user_id >= 200`;
const undo = `
  delete from product_slots where slot_id in (select id from slots where delivery_time >= '2040-01-01');
  delete from slots where delivery_time >= '2040-01-01'; delete from coupons where coupon_code like 'LOAD-%';
  delete from store_refresh_requests where id > 1`;

/**
 * Reads and writes a database while `work` runs, and until each statement was made twice: one every 10 ms, however long those
 * before it take. Then takes back what was written.
 *
 * @param further statements beside those of all schemas: `statementsOfRelease`, or none.
 * @returns how many milliseconds each statement took, in ascending order. Rejects if one fails, or takes 8 s.
 */
export async function underStatements(
  url: string,
  work: () => Promise<unknown>,
  further: readonly string[] = [],
): Promise<number[]> {
  const tookMs: number[] = [];
  const all = [...statements, ...further];
  // As the services have it: a call whose statement takes longer fails.
  const pool = new pg.Pool({ connectionString: url, max: 40, statement_timeout: 8_000 });
  const run = async (n: number) => {
    const startedAt = performance.now();
    await pool.query(all[n % all.length]?.replaceAll('$n', `${n}`) ?? '');
    tookMs.push(performance.now() - startedAt);
  };
  let isOver = false;
  const load = async () => {
    const running: Promise<void>[] = [];
    for (let n = 0; !isOver || n < 2 * all.length; n += 1) {
      running.push(run(n));
      await pause(10);
    }
    await Promise.all(running);
  };
  try {
    const loading = load();
    await work().finally(() => {
      isOver = true;
    });
    await loading;
    await queryOnce(url, undo);
    if (further.length > 0) await queryOnce(url, undoOfRelease);
  } finally {
    await pool.end();
  }
  return tookMs.toSorted((left, right) => left - right);
}
