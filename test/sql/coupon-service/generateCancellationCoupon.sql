with refunded as (
  select users.id as user_id, orders.total_amount
  from orders join users on users.id = orders.user_id
  where orders.id = $orderId and users.id = $userId and users.name is not distinct from $name
  and users.mobile is not distinct from $mobile
  for key share
),
found as (
  select
  exists (select from refunded) as "isCurrent",
  exists (select from staff_users where id = $staffId and disabled_at is null) as "isStaff",
  not exists (select from coupons where coupon_code = $couponCode) as "isCodeFree"
),
-- 5
written as (
  insert into coupons (
    coupon_code, created_by, is_user_based, flat_discount, min_order, max_value, max_limit_for_user, valid_till
  )
  select $couponCode, $staffId, true, total_amount, total_amount, total_amount, 1,
  now() + $validForDays * interval '24 hours'
  from found, refunded where case when "isStaff" and "isCodeFree" then $keyId::bytea is null or is_new_key($keyId) else false end
  on conflict (coupon_code) do nothing
  returning *
),
linked as (
  insert into coupon_applicable_users (coupon_id, user_id)
  select written.id, refunded.user_id from written, refunded
),
coupon_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'coupon', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, null::json as before, json_strip_nulls(json_build_object(
        'couponCode', written.coupon_code, 'isUserBased', written.is_user_based, 'isApplyForAll', written.is_apply_for_all,
        'isInvalidated', written.is_invalidated,
        'discountPercent', written.discount_percent::text, 'flatDiscount', written.flat_discount::text,
        'minOrder', written.min_order::text, 'maxValue', written.max_value::text,
        'startsAt', api_time(written.starts_at), 'validTill', api_time(written.valid_till),
        'maxLimitForUser', written.max_limit_for_user, 'maxUses', written.max_uses,
        'exclusiveApply', written.exclusive_apply, 'createdBy', written.created_by, 'createdAt', api_time(written.created_at), 'applicableUsers', json_build_array(user_id), 'applicableProducts', json_build_array())) as after from written, refunded offset 0) as changes
),
statuses as (update order_statuses set refund_coupon_id = written.id from written where order_id = $orderId)
-- If the order or its user has changed, or another transaction takes the code, the write runs again.
select found.*, not "isCurrent" or ("isStaff" and "isCodeFree") as "mayWrite",
coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
coupons.is_apply_for_all as "isApplyForAll",
coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
coupons.min_order as "minOrder", coupons.max_value as "maxValue", to_json(coupons.product_ids) as "productIds",
coupons.starts_at as "startsAt", coupons.valid_till as "validTill",
coupons.max_limit_for_user as "maxLimitForUser", coupons.max_uses as "maxUses", coupons.exclusive_apply as "exclusiveApply",
coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
coupons.etag, coupons.batch_id as "batchId"
from found left join written as coupons on true
