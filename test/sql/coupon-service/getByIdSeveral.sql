select found.*
from unnest($keys::integer[]) as asked (key), lateral (
  select coupons.id as "couponId", detail.*, coalesce(
    json_array_length("applicableUsers") + json_array_length("applicableProducts") > $maxSize::integer, true
  ) as "isTooLarge"
  from coupons left join lateral (
    select
    coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
    coupons.is_apply_for_all as "isApplyForAll",
    coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
    coupons.min_order as "minOrder", coupons.max_value as "maxValue", to_json(coupons.product_ids) as "productIds",
    coupons.starts_at as "startsAt", coupons.valid_till as "validTill",
    coupons.max_limit_for_user as "maxLimitForUser", coupons.max_uses as "maxUses", coupons.exclusive_apply as "exclusiveApply",
    coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
    coupons.etag, coupons.batch_id as "batchId", staff_users.name as "creatorName",
    coalesce((
        select json_agg(json_build_array(links.user_id, users.name, users.email, users.mobile) order by links.id)
        from (
          select * from coupon_applicable_users where coupon_id = coupons.id limit $maxSize::bigint + 1
        ) as links left join users on users.id = links.user_id
      ), '[]') as "applicableUsers",
    coalesce((
        select json_agg(json_build_array(links.product_id, products.name, products.images) order by links.id)
        from (
          select * from coupon_applicable_products where coupon_id = coupons.id limit $maxSize::bigint + 1
        ) as links left join products on products.id = links.product_id
      ), '[]') as "applicableProducts"
    from staff_users
    where staff_users.id = coupons.created_by and coalesce((pg_column_size(coupons.product_ids) - 21) / 4, 0) <= $maxSize
    offset 0
  ) as detail on true
  where coupons.id = asked.key::integer
  offset 0
) as found
