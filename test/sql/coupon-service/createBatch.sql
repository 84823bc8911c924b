with found as (
  select (select count(*) from users where id = any($applicableUsers::integer[]::integer[])) = coalesce(cardinality($applicableUsers::integer[]), 0) as "usersExist", exists (select from staff_users where id = $staffId and disabled_at is null) as "isStaff", (select count(*) from products where id = any($applicableProducts::integer[]::integer[])) = coalesce(cardinality($applicableProducts::integer[]), 0) as "productsExist"
),
batch as (
  insert into coupon_batches (name, count, created_by)
  select $name, $count::integer, $staffId::integer from found where case when ("usersExist" and "isStaff" and "productsExist") then $keyId::bytea is null or is_new_key($keyId) else false end
  returning *
),
terms (discount_percent, flat_discount, min_order, max_value, product_ids, starts_at, valid_till, max_limit_for_user, max_uses, exclusive_apply) as (select $discountPercent::numeric, $flatDiscount::numeric, $minOrder::numeric, $maxValue::numeric, $productIds::integer[], $startsAt::timestamptz, $validTill::timestamptz, $maxLimitForUser::integer, $maxUses::integer, $exclusiveApply::boolean),
coupon_batch_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'coupon_batch', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, null::json as before, json_strip_nulls(json_build_object('name', name, 'count', count, 'isUserBased', $isUserBased::boolean, 'isApplyForAll', $isApplyForAll::boolean,
        'discountPercent', made.discount_percent::text, 'flatDiscount', made.flat_discount::text,
        'minOrder', made.min_order::text, 'maxValue', made.max_value::text,
        'startsAt', api_time(made.starts_at), 'validTill', api_time(made.valid_till),
        'maxLimitForUser', made.max_limit_for_user, 'maxUses', made.max_uses,
        'exclusiveApply', made.exclusive_apply, 'createdBy', made.created_by, 'createdAt', api_time(made.created_at), 'productIds', $productIdsJson::json, 'applicableUsers', $usersJson::json,
        'applicableProducts', $productsJson::json)) as after from (select batch.*, terms.* from batch, terms) as made offset 0) as changes
)
select found.*, ("usersExist" and "isStaff" and "productsExist") as "mayWrite",
coupon_batches.id, coupon_batches.name, coupon_batches.count, coupon_batches.invalidated,
coupon_batches.created_by as "createdBy", coupon_batches.created_at as "createdAt"
from found left join batch as coupon_batches on true
