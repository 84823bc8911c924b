select one.user_id as "userId", id, coupon_code as "couponCode",
coalesce(cardinality(product_ids), 0) as "listedIds", case when one.user_id is null then 0 else (
  select count(*)::integer from reserved_coupon_applicable_products where reserved_coupon_id = reserved_coupons.id
) end as links
from (select (
    select id from users where id = $userId::integer
    union all select id from users where external_id = $userExternalId::text
  ) as user_id) as one left join (
  select * from reserved_coupons where secret_code in ($exact, $upper) order by secret_code = $exact desc limit 1
) as reserved_coupons on true
