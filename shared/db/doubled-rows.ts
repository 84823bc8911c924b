import { connectionErrorMessage } from './errors.ts';
import { withSession } from './owner.ts';

/** How many rows of a kind are named. */
const maxNamed = 20;
const heading = `rows beyond their limits (at most ${maxNamed} of a kind; see "Doubled rows" in docs/operating.md):`;

// Services up to 1.1.0 could write them where transactions are REPEATABLE READ by default. Bookings can't be among
// them: the trigger that counts them fails then. Copies were made at once, so in the same hour. CopySlots makes no
// others.
const doubledRows = `
  (
    select concat_ws(' with ', 'coupon ' || coupon_id, 'user ' || user_id, 'order ' || order_key)
      || format(': %s live redemptions', count(*)) as problem
    from redemptions left join coupons on coupons.id = coupon_id
    where state = 'USED' or state = 'HELD' and held_until > now()
    group by grouping sets (coupon_id, (coupon_id, user_id), (coupon_id, order_key), order_key)
    having count(*) > case grouping(coupon_id, user_id, order_key)
      when b'011'::integer then nullif(max(max_uses), 0)
      when b'001'::integer then nullif(max(max_limit_for_user), 0)
      when b'010'::integer then 1
      when b'110'::integer then case when bool_or(exclusive_apply) then 1 end
    end
    order by 1 limit ${maxNamed}
  ) union all (
    select format('slots %s are copies for one time', string_agg(slots.id::text, ', ' order by slots.id))
    from audit_entries join slots on slots.id = resource_id
    where resource_type = 'slot' and procedure = 'slot.v1.SlotPlanService/CopySlots' and is_active
    group by delivery_time, group_ids, date_trunc('hour', at) having count(*) > 1
    order by 1 limit ${maxNamed}
  )`;

/**
 * Finds what calls at once have doubled: redemptions beyond the limits that their coupons have now, and copies of
 * slots.
 *
 * @returns a heading and a line for each, at most 20 of a kind; or a line that says why they could not be looked for,
 * such as because it took 40 s.
 */
export async function findDoubledRows(databaseUrl: string, schema: string): Promise<string[]> {
  try {
    const { rows } = await withSession(databaseUrl, schema, async (client) => {
      await client.query(`set statement_timeout = '40s'`);
      return client.query<{ problem: string }>(doubledRows);
    });
    return rows.length > 0 ? [heading, ...rows.map(({ problem }) => problem)] : [];
  } catch (error) {
    return [`doubled rows were not looked for: ${connectionErrorMessage(error)}`];
  }
}
