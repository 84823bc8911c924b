import { connectionErrorMessage } from './errors.ts';
import { withSession } from './owner.ts';

// Services up to 1.1.0 could write them where transactions are REPEATABLE READ by default. Bookings can't be among them:
// the trigger that counts them fails then. Copies were made at once, so in the same hour. CopySlots makes no others.
const selectDoubled = `
  (select concat_ws(' with ', 'coupon ' || coupon_id, 'user ' || user_id, 'order ' || order_key)
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
   order by 1 limit 20)
  union all
  (select format('slots %s are copies for one time', string_agg(slots.id::text, ', ' order by slots.id))
   from audit_entries join slots on slots.id = resource_id
   where resource_type = 'slot' and procedure = 'slot.v1.SlotPlanService/CopySlots' and is_active
   group by delivery_time, group_ids, date_trunc('hour', at) having count(*) > 1 limit 20)`;

/**
 * Finds what calls at once have doubled: redemptions beyond the limits that their coupons have now, and copies of slots.
 *
 * @returns a line for each, at most 20 of either; or one that says why they were not looked for, such as that it took 20 s.
 */
export function findDoubledRows(databaseUrl: string, schema: string): Promise<string[]> {
  return withSession(databaseUrl, schema, async (client) => {
    await client.query(`set statement_timeout = '20s'`);
    const { rows } = await client.query<{ problem: string }>(selectDoubled);
    return rows.map(({ problem }) => problem);
  }).catch((error: unknown) => [`doubled rows were not looked for: ${connectionErrorMessage(error)}`]);
}
