import { statement } from '../../../shared/db/statement.ts';
import type { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { isRunOutByOwner } from '../../../shared/holds/hold.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { RedemptionParts } from '../parts.ts';

/** Design 13, getUsage: how many redemptions each coupon has in each state, in the order of the request. */
export function getUsage({
  database,
}: Pick<RedemptionParts, 'database'>): Handler<typeof RedemptionService.method.getUsage> {
  return async ({ couponIds }, call) => ({ usage: await database.for(call).query(selectUsage({ couponIds })) });
}

interface UsageRow {
  couponId: number;
  held: number;
  used: number;
  released: number;
  expired: number;
  discountUsed: string;
}

// Holds that have run out are still counted as held until a sweep marks them.
const selectUsage = statement<UsageRow, { couponIds: readonly number[] }>(
  'getUsage',
  `with run_out as materialized (
     select coupon_id, count(*) as holds from redemptions
     where coupon_id = any($couponIds::integer[]) and ${isRunOutByOwner}
     group by coupon_id
   )
   select asked.coupon_id as "couponId", (coalesce(sum(held), 0) - coalesce(max(holds), 0))::integer as held,
     coalesce(sum(used), 0)::integer as used, coalesce(sum(released), 0)::integer as released,
     (coalesce(sum(expired), 0) + coalesce(max(holds), 0))::integer as expired,
     trim_scale(coalesce(sum(discount_used), 0)) as "discountUsed"
   from unnest($couponIds) with ordinality as asked (coupon_id, place)
     left join coupon_usage on coupon_usage.coupon_id = asked.coupon_id
     left join run_out on run_out.coupon_id = asked.coupon_id
   group by asked.coupon_id, place
   order by place`,
);
