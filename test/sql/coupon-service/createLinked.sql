with found as (
  select (select count(*) from users where id = any($applicableUsers::integer[]::integer[])) = coalesce(cardinality($applicableUsers::integer[]), 0) as "usersExist", exists (select from staff_users where id = $staffId and disabled_at is null) as "isStaff", not exists (select from coupons where coupon_code = $couponCode) as "isCodeFree", (select count(*) from products where id = any($applicableProducts::integer[]::integer[])) = coalesce(cardinality($applicableProducts::integer[]), 0) as "productsExist"
),
written as (
  insert into coupons (created_by, coupon_code, is_user_based, is_apply_for_all, discount_percent, flat_discount, min_order, max_value, product_ids, starts_at, valid_till, max_limit_for_user, max_uses, exclusive_apply)
  select $staffId::integer, $couponCode::text, $isUserBased::boolean, $isApplyForAll::boolean, $discountPercent::numeric, $flatDiscount::numeric, $minOrder::numeric, $maxValue::numeric, $productIds::integer[], $startsAt::timestamptz, $validTill::timestamptz, $maxLimitForUser::integer, $maxUses::integer, $exclusiveApply::boolean from found where case when ("usersExist" and "isStaff" and "isCodeFree" and "productsExist") then $keyId::bytea is null or is_new_key($keyId) else false end
  on conflict (coupon_code) do nothing
  returning *
),
linked_user_id as (
  insert into coupon_applicable_users (coupon_id, user_id)
  select written.id, given.id from written, (select unnest($applicableUsers::integer[]) as id order by id) as given
), linked_product_id as (
  insert into coupon_applicable_products (coupon_id, product_id)
  select written.id, given.id from written, (select unnest($applicableProducts::integer[]) as id order by id) as given
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
        'exclusiveApply', written.exclusive_apply, 'createdBy', written.created_by, 'createdAt', api_time(written.created_at), 'productIds', $productIdsJson::json, 'applicableUsers', $usersJson::json,
        'applicableProducts', $productsJson::json)) as after from written offset 0) as changes
)
select found.*, ("usersExist" and "isStaff" and "isCodeFree" and "productsExist") as "mayWrite",
coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
coupons.is_apply_for_all as "isApplyForAll",
coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
coupons.min_order as "minOrder", coupons.max_value as "maxValue", to_json(coupons.product_ids) as "productIds",
coupons.starts_at as "startsAt", coupons.valid_till as "validTill",
coupons.max_limit_for_user as "maxLimitForUser", coupons.max_uses as "maxUses", coupons.exclusive_apply as "exclusiveApply",
coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
coupons.etag, coupons.batch_id as "batchId"
from found left join written as coupons on true
