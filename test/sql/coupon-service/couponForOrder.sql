select one.user_id as "userId", coupon.*
from (select (
    select id from users where id = $userId::integer
    union all select id from users where external_id = $userExternalId::text
  ) as user_id) as one left join lateral (
  select
  id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue", min_order as "minOrder",
  coalesce(valid_till < statement_timestamp(), false) as "isExpired",
  coalesce(starts_at > statement_timestamp(), false) as "isNotStarted",
  not (is_apply_for_all or is_user_based) as "isNotAvailable", is_invalidated as "isInvalidated", exclusive_apply as "isExclusive",
  coalesce(max_limit_for_user, 0) as "maxUsesOfUser", coalesce(max_uses, 0) as "maxUses", coupons.xmin::text as version,
  not is_apply_for_all and case when one.user_id is not null then not exists (
    select from coupon_applicable_users where coupon_id = coupons.id and user_id = one.user_id
  ) end as "isNotForUser",
  is_limited and case when $productIds::integer[] is not null then eligible.lines = 0 end as "isNotForProducts",
  is_limited as "isLimited", eligible.amount as "eligibleAmount"
  from coupons cross join lateral (
    select (one.user_id is not null or num_nonnulls($userId::integer, $userExternalId::text) = 0)
    and (coalesce(cardinality(product_ids), 0) > 0 or exists (
        select from coupon_applicable_products where coupon_id = coupons.id
    )) as is_limited
  ) as limits left join lateral (
    select count(*) as lines, trim_scale(sum(amount)) as amount
    from (
      select case when external_id <> '' then (select id from products where external_id = line.external_id)
      else product_id end as id, amount
      from unnest($productIds::integer[], $externalIds::text[], $amounts::numeric[]) as line (product_id, external_id, amount)
      offset 0
    ) as given
    where is_limited and (id in (select unnest(product_ids)) or exists (
        select from coupon_applicable_products where (coupon_id, product_id) = (coupons.id, given.id)
    ))
  ) as eligible on true
  where coupon_code = $couponCode
) as coupon on true
