select
coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
coupons.is_apply_for_all as "isApplyForAll",
coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
coupons.min_order as "minOrder", coupons.max_value as "maxValue", case when not is_beyond then to_json(coupons.product_ids) end as "productIds",
coupons.starts_at as "startsAt", coupons.valid_till as "validTill",
coupons.max_limit_for_user as "maxLimitForUser", coupons.max_uses as "maxUses", coupons.exclusive_apply as "exclusiveApply",
coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
coupons.etag, coupons.batch_id as "batchId", is_beyond as "isBeyond"
from (
  select *, row_number() over (order by id) > 1
  and sum(coalesce(pg_column_size(product_ids), 0)) over (order by id) > 1048576 as is_beyond
  from (
    select * from coupons where batch_id = $batchId and id > coalesce($after::bigint, 0) order by id limit $rows::integer
  ) as page
) as coupons
order by id
