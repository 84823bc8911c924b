with found as (
  select
  exists (select from staff_users where id = $staffId and disabled_at is null) as "isStaff",
  not exists (select from reserved_coupons where secret_code = $secretCode) as "isCodeFree",
  (select count(*) from products where id = any($applicableProducts::integer[]::integer[])) = coalesce(cardinality($applicableProducts::integer[]), 0) as "productsExist"
),
written as (
  insert into reserved_coupons (secret_code, coupon_code, created_by, discount_percent, flat_discount, min_order, max_value, product_ids, starts_at, valid_till, max_limit_for_user, max_uses, exclusive_apply)
  select $secretCode, $couponCode::text, $staffId, $discountPercent::numeric, $flatDiscount::numeric, $minOrder::numeric, $maxValue::numeric, $productIds::integer[], $startsAt::timestamptz, $validTill::timestamptz, $maxLimitForUser::integer, $maxUses::integer, $exclusiveApply::boolean from found
  where case when ("isStaff" and "isCodeFree" and "productsExist") then $keyId::bytea is null or is_new_key($keyId) else false end
  on conflict (secret_code) do nothing
  returning *
),
linked_product_id as (
  insert into reserved_coupon_applicable_products (reserved_coupon_id, product_id)
  select written.id, given.id from written, (select unnest($applicableProducts::integer[]) as id order by id) as given
),
reserved_coupon_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'reserved_coupon', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, null::json as before, json_strip_nulls(json_build_object('secretCode', secret_code, 'couponCode', coupon_code,
        'discountPercent', written.discount_percent::text, 'flatDiscount', written.flat_discount::text,
        'minOrder', written.min_order::text, 'maxValue', written.max_value::text,
        'startsAt', api_time(written.starts_at), 'validTill', api_time(written.valid_till),
        'maxLimitForUser', written.max_limit_for_user, 'maxUses', written.max_uses,
        'exclusiveApply', written.exclusive_apply, 'createdBy', written.created_by, 'createdAt', api_time(written.created_at),
        'productIds', $productIdsJson::json, 'applicableProducts', $productsJson::json)) as after from written offset 0) as changes
)
select found.*, ("isStaff" and "isCodeFree" and "productsExist") as "mayWrite",
reserved_coupons.id, reserved_coupons.secret_code as "secretCode", reserved_coupons.coupon_code as "couponCode",
reserved_coupons.discount_percent as "discountPercent", reserved_coupons.flat_discount as "flatDiscount",
reserved_coupons.min_order as "minOrder", reserved_coupons.max_value as "maxValue", reserved_coupons.product_ids as "productIds",
reserved_coupons.starts_at as "startsAt", reserved_coupons.valid_till as "validTill",
reserved_coupons.max_limit_for_user as "maxLimitForUser", reserved_coupons.max_uses as "maxUses", reserved_coupons.exclusive_apply as "exclusiveApply",
reserved_coupons.created_by as "createdBy", reserved_coupons.created_at as "createdAt"
from found left join written as reserved_coupons on true
