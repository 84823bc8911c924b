with run_out as materialized (
  select coupon_id, count(*) as holds from redemptions
  where coupon_id = any($couponIds::integer[]) and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
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
order by place
