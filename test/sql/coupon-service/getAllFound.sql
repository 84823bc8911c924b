select
coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
coupons.is_apply_for_all as "isApplyForAll",
coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
coupons.min_order as "minOrder", coupons.max_value as "maxValue", coupons.product_ids[:100] as "productIds",
coupons.starts_at as "startsAt", coupons.valid_till as "validTill",
coupons.max_limit_for_user as "maxLimitForUser", coupons.max_uses as "maxUses", coupons.exclusive_apply as "exclusiveApply",
coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
coupons.etag, coupons.batch_id as "batchId", staff_users.name as "creatorName",
coalesce((select count from coupon_link_counts where coupon_id = coupons.id and kind = 'users'), 0) as "applicableUsersCount",
(
  select json_agg(
    json_build_array(links.id, links.target, case when users.id is not null then json_build_array(users.id, users.name, users.email, users.mobile) end) order by links.id
  )
  from (
    select id, user_id as target from coupon_applicable_users where coupon_id = coupons.id order by user_id limit 100
  ) as links left join lateral (select * from users where id = links.target offset 0) as users on true
) as "applicableUsers",
coalesce((select count from coupon_link_counts where coupon_id = coupons.id and kind = 'products'), 0) as "applicableProductsCount",
(
  select json_agg(
    json_build_array(links.id, links.target, case when products.id is not null then json_build_array(products.id, products.name, products.images) end) order by links.id
  )
  from (
    select id, product_id as target from coupon_applicable_products where coupon_id = coupons.id order by product_id limit 100
  ) as links left join lateral (select * from products where id = links.target offset 0) as products on true
) as "applicableProducts",
coalesce(cardinality(coupons.product_ids), 0) as "productIdsCount",
(extract(epoch from coupons.created_at) * 1000000)::bigint as "createdAtMicros"
from (select shown.* from unnest(current_setting('found.ids')::integer[]) with ordinality as ids (id, place), lateral (select * from coupons where id = ids.id offset 0) as shown) as coupons join staff_users on staff_users.id = coupons.created_by
order by "createdAtMicros" desc, id desc
