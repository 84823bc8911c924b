select one.user_id as "userId", coupon.*
from (select (
    select id from users where id = $userId::integer
    union all select id from users where external_id = $userExternalId::text
  ) as user_id) as one left join lateral (
  select
  id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue", min_order as "minOrder",
  coalesce(valid_till < statement_timestamp(), false) as "isExpired", is_apply_for_all or is_user_based as "isAvailable", is_invalidated as "isInvalidated", exclusive_apply as "isExclusive",
  coalesce(max_limit_for_user, 0) as "maxUses", xmin::text as version,
  is_apply_for_all or exists (
    select from coupon_applicable_users where coupon_id = coupons.id and user_id = one.user_id
  ) as "isForUser",
  coalesce(cardinality(product_ids), 0) = 0 and not exists (
    select from coupon_applicable_products where coupon_id = coupons.id
  )
  or exists (select unnest(product_ids) intersect select unnest($productIds::integer[]))
  or exists (
    select from unnest($productIds) as asked (id)
    join coupon_applicable_products on coupon_id = coupons.id and product_id = asked.id
  ) as "isForProducts"
  from coupons where coupon_code = $couponCode
) as coupon on true
