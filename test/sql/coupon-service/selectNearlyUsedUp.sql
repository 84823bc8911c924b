select
coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
coupons.is_apply_for_all as "isApplyForAll",
coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
coupons.min_order as "minOrder", coupons.max_value as "maxValue", to_json(coupons.product_ids[:100]) as "productIds",
coupons.starts_at as "startsAt", coupons.valid_till as "validTill",
coupons.max_limit_for_user as "maxLimitForUser", coupons.max_uses as "maxUses", coupons.exclusive_apply as "exclusiveApply",
coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
coupons.etag, coupons.batch_id as "batchId", uses_left::integer as "usesLeft"
from (
  select coupon_id, ends_at, max_uses, max_uses - (
    (select coalesce(sum(held + used), 0) from coupon_usage where coupon_id = limited_coupons.coupon_id)
    - (select count(*) from redemptions where coupon_id = limited_coupons.coupon_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC'))) as uses_left
  from limited_coupons
  where live < max_uses and live * 10 >= max_uses * 9 and ends_at >= statement_timestamp()
  order by ends_at, coupon_id limit 40
) as few, lateral (select * from coupons where id = coupon_id offset 0) as coupons
where uses_left > 0 and uses_left * 10 <= few.max_uses
order by ends_at, coupon_id limit 20
