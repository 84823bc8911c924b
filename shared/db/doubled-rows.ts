import { connectionErrorMessage } from './errors.ts';
import { withSession } from './owner.ts';

/** How many rows of a kind are named. */
const maxNamed = 20;
const heading = `rows beyond their limits (at most ${maxNamed} of a kind; see "Doubled rows" in docs/operating.md):`;

// Services up to 1.1.0 could write them where transactions are REPEATABLE READ by default. Bookings can't be among
// them: the trigger that counts them fails then. Copies were made at once, so in the same hour. CopySlots makes no
// others.
const kinds = {
  redemptions: `
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
    order by 1`,
  copies: `
    select format('slots %s are copies for one time', string_agg(slots.id::text, ', ' order by slots.id)) as problem
    from audit_entries join slots on slots.id = resource_id
    where resource_type = 'slot' and procedure = 'slot.v1.SlotPlanService/CopySlots' and is_active
    group by delivery_time, group_ids, date_trunc('hour', at) having count(*) > 1`,
};

/**
 * Finds what calls at once have doubled: redemptions beyond the limits that their coupons have now, and copies of
 * slots.
 *
 * @returns a heading and a line for each, at most 20 of a kind; and a line for each kind that could not be looked for,
 * such as because it took 20 s.
 */
export async function findDoubledRows(databaseUrl: string, schema: string): Promise<string[]> {
  const found: string[] = [];
  const failures: string[] = [];
  for (const [kind, select] of Object.entries(kinds)) {
    try {
      const rows = await withSession(databaseUrl, schema, async (client) => {
        await client.query(`set statement_timeout = '20s'`);
        return (await client.query<{ problem: string }>(`${select} limit ${maxNamed}`)).rows;
      });
      found.push(...rows.map(({ problem }) => problem));
    } catch (error) {
      failures.push(`doubled ${kind} were not looked for: ${connectionErrorMessage(error)}`);
    }
  }
  return [...failures, ...(found.length > 0 ? [heading, ...found] : [])];
}
