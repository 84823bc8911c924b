select found.*
from unnest($keys::text[]) as asked (key), lateral (
  select coupon_code as "couponCode",
  id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue", min_order as "minOrder",
  coalesce(valid_till < statement_timestamp(), false) as "isExpired",
  coalesce(starts_at > statement_timestamp(), false) as "isNotStarted",
  not (is_apply_for_all or is_user_based) as "isNotAvailable"
  from coupons where coupon_code = asked.key::text and not is_invalidated -- spec 4.2, rule 2
  offset 0
) as found
