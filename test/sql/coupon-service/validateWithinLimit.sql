select * from (
  select coalesce(max(points), 0) as misses, (max(expire) - $nowMs::bigint)::double precision as "msToWindowEnd"
  from (select points, expire from validate_misses where key = $callerKey offset 0) as counted
  where expire > $nowMs::bigint) as caller left join (
  select
  id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue", min_order as "minOrder",
  coalesce(valid_till < statement_timestamp(), false) as "isExpired",
  coalesce(starts_at > statement_timestamp(), false) as "isNotStarted",
  not (is_apply_for_all or is_user_based) as "isNotAvailable"
  from coupons where coupon_code = $couponCode and not is_invalidated -- spec 4.2, rule 2
) as coupon on true
