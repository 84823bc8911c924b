with found as (
  select
  exists (select from staff_users where id = $staffId and disabled_at is null) as "isStaff",
  not exists (select from coupons where coupon_code = $couponCode) as "isCodeFree"
),
allowed as (select from found where case when "isStaff" and "isCodeFree" then $keyId::bytea is null or is_new_key($keyId) else false end),
-- 3
known as (select id from users where mobile = $mobile for key share),
created as (
  insert into users (mobile)
  select $mobile from allowed where not exists (select from known)
  on conflict (mobile) do nothing
  returning id, mobile
),
owner as (select id from known union all select id from created),
-- 5
written as (
  insert into coupons (
    coupon_code, created_by, is_user_based, discount_percent, min_order, max_value, max_limit_for_user, valid_till
  )
  select $couponCode, $staffId, true, $discountPercent, $minOrder, $maxValue, $maxLimitForUser,
  now() + $validForDays * interval '24 hours'
  from allowed, owner
  returning *
),
linked as (
  insert into coupon_applicable_users (coupon_id, user_id) select written.id, owner.id from written, owner
),
user_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'user', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, null::json as before, json_strip_nulls(json_build_object('mobile', mobile)) as after from created offset 0) as changes
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
        'exclusiveApply', written.exclusive_apply, 'createdBy', written.created_by, 'createdAt', api_time(written.created_at), 'applicableUsers', json_build_array(user_id), 'applicableProducts', json_build_array())) as after from written, (select id as user_id from owner) as owner offset 0) as changes
)
select found.*, "isStaff" and "isCodeFree" as "mayWrite", written.id, owner.id as "userId"
from found left join (written cross join owner) on true
