with seen as materialized (select * from reserved_coupons where id = $id for no key update),
found as materialized (
  select claimed_coupon_id is null as "isNew",
  redeemed_by is distinct from $userId::integer and (claimed_coupon_id is not null or redeemed_by is not null) as "isTaken"
  from seen
),
allowed as materialized (
  select "isNew", not "isTaken" and (not "isNew" or coalesce(valid_till >= statement_timestamp(), true)) as "mayWrite"
  from seen, found
),
free as (
  select code from unnest($couponCodes::text[]) with ordinality as drawn (code, place)
  where not exists (select from coupons where coupon_code = code)
  order by place limit 1
),
written as (
  insert into coupons (coupon_code, is_user_based, created_by, discount_percent, flat_discount, min_order, max_value, product_ids, starts_at, valid_till, max_limit_for_user, max_uses, exclusive_apply)
  select code, true, created_by, discount_percent, flat_discount, min_order, max_value, product_ids, starts_at, valid_till, max_limit_for_user, max_uses, exclusive_apply from seen, allowed, free where case when "mayWrite" and "isNew" then $keyId::bytea is null or is_new_key($keyId) else false end
  on conflict (coupon_code) do nothing
  returning *
),
linked_user as (
  insert into coupon_applicable_users (coupon_id, user_id) select id, $userId from written
),
linked_products as (
  insert into coupon_applicable_products (coupon_id, product_id)
  select written.id, product_id from written, reserved_coupon_applicable_products
  where reserved_coupon_id = $id
  order by product_id
),
redeemed as (
  update reserved_coupons set redeemed_by = $userId, claimed_coupon_id = written.id
  from written where reserved_coupons.id = $id
  returning reserved_coupons.id
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
        'exclusiveApply', written.exclusive_apply, 'createdBy', written.created_by, 'createdAt', api_time(written.created_at), 'productIds', coalesce(changed_ids(null, to_json(product_ids)), to_json(product_ids)), 'applicableUsers', json_build_array($userId),
        'applicableProducts', coalesce(changed_ids(null, to_json(array(
                select product_id from reserved_coupon_applicable_products where reserved_coupon_id = $id order by product_id
          ))), to_json(array(
              select product_id from reserved_coupon_applicable_products where reserved_coupon_id = $id order by product_id
    ))))) as after from written offset 0) as changes
),
reserved_coupon_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'reserved_coupon', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, '{}'::json as before, json_build_object('redeemedUser', $userId) as after from redeemed offset 0) as changes
)
select "isTaken", allowed.*,
coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
coupons.is_apply_for_all as "isApplyForAll",
coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
coupons.min_order as "minOrder", coupons.max_value as "maxValue", to_json(coupons.product_ids) as "productIds",
coupons.starts_at as "startsAt", coupons.valid_till as "validTill",
coupons.max_limit_for_user as "maxLimitForUser", coupons.max_uses as "maxUses", coupons.exclusive_apply as "exclusiveApply",
coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
coupons.etag, coupons.batch_id as "batchId"
from found, allowed left join (
  select * from written
  union all select coupons.* from coupons, seen, allowed where coupons.id = claimed_coupon_id and "mayWrite"
) as coupons on true
