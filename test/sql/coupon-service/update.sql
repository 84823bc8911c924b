with seen as (select *, xmin from coupons where id = $id),
new_user_id as materialized (
  select given.id from unnest($applicableUsers::integer[]) as given (id)
  where not exists (select from coupon_applicable_users where coupon_id = $id and user_id = given.id)
),
new_product_id as materialized (
  select given.id from unnest($applicableProducts::integer[]) as given (id)
  where not exists (select from coupon_applicable_products where coupon_id = $id and product_id = given.id)
),
found as (
  select
  not $needsUsers::boolean or exists (select from coupon_applicable_users where coupon_id = $id) as "hasUsers",
  not exists (
    select from new_user_id left join users on users.id = new_user_id.id where users.id is null
  ) as "usersExist",
  exists (select from seen) as "exists",
  exists (select from seen where ($etag = '' or seen.etag::text = $etag)) as "isCurrent",
  not exists (select from coupons where coupon_code = $couponCode and id <> $id) as "isCodeFree",
  not exists (
    select from new_product_id left join products on products.id = new_product_id.id where products.id is null
  ) as "productsExist"
),
-- 4
wanted (id, created_by, created_at, coupon_code, is_user_based, is_apply_for_all, discount_percent, flat_discount, min_order, max_value, product_ids, starts_at, valid_till, max_limit_for_user, max_uses, exclusive_apply, is_invalidated) as (
  select id, created_by, created_at, coalesce($couponCode::text, coupon_code), coalesce($isUserBased::boolean, is_user_based), coalesce($isApplyForAll::boolean, is_apply_for_all), coalesce($discountPercent::numeric, discount_percent), coalesce($flatDiscount::numeric, flat_discount), coalesce($minOrder::numeric, min_order), coalesce($maxValue::numeric, max_value), case when not $clearsProductIds::boolean then coalesce($productIds::integer[], product_ids) end, case when not $clearsStartsAt::boolean then coalesce($startsAt::timestamptz, starts_at) end, case when not $clearsValidTill::boolean then coalesce($validTill::timestamptz, valid_till) end, coalesce($maxLimitForUser::integer, max_limit_for_user), coalesce($maxUses::integer, max_uses), coalesce($exclusiveApply::boolean, exclusive_apply), coalesce($isInvalidated::boolean, is_invalidated) from seen, found where (
    "hasUsers" and "usersExist" and "isCurrent" and "isCodeFree" and "productsExist")
),
change as materialized (
  select *, before::text is distinct from after::text as differs from (select id, before, after from (select id,
      json_build_object(
        'couponCode', seen.coupon_code, 'isUserBased', seen.is_user_based, 'isApplyForAll', seen.is_apply_for_all,
        'isInvalidated', seen.is_invalidated,
        'discountPercent', seen.discount_percent::text, 'flatDiscount', seen.flat_discount::text,
        'minOrder', seen.min_order::text, 'maxValue', seen.max_value::text,
        'startsAt', api_time(seen.starts_at), 'validTill', api_time(seen.valid_till),
        'maxLimitForUser', seen.max_limit_for_user, 'maxUses', seen.max_uses,
        'exclusiveApply', seen.exclusive_apply, 'createdBy', seen.created_by, 'createdAt', api_time(seen.created_at), 'productIds', case when seen.product_ids is distinct from wanted.product_ids then to_json(seen.product_ids) end,
        'applicableUsers', case when $applicableUsers is not null then array_to_json(array(select user_id from coupon_applicable_users where coupon_id = $id order by 1)) end,
        'applicableProducts', case when $applicableProducts is not null then array_to_json(array(select product_id from coupon_applicable_products where coupon_id = $id order by 1)) end
      ) as old,
      json_build_object(
        'couponCode', wanted.coupon_code, 'isUserBased', wanted.is_user_based, 'isApplyForAll', wanted.is_apply_for_all,
        'isInvalidated', wanted.is_invalidated,
        'discountPercent', wanted.discount_percent::text, 'flatDiscount', wanted.flat_discount::text,
        'minOrder', wanted.min_order::text, 'maxValue', wanted.max_value::text,
        'startsAt', api_time(wanted.starts_at), 'validTill', api_time(wanted.valid_till),
        'maxLimitForUser', wanted.max_limit_for_user, 'maxUses', wanted.max_uses,
        'exclusiveApply', wanted.exclusive_apply, 'createdBy', wanted.created_by, 'createdAt', api_time(wanted.created_at), 'productIds', case when seen.product_ids is distinct from wanted.product_ids then to_json(wanted.product_ids) end,
        'applicableUsers', case when $applicableUsers is not null then array_to_json(array(select unnest($applicableUsers::integer[]) order by 1)) end,
        'applicableProducts', case when $applicableProducts is not null then array_to_json(array(select unnest($applicableProducts::integer[]) order by 1)) end
      ) as new
      from seen join wanted using (id)) as records, lateral changed_fields(old, new) offset 0) as changes
),
written as (
  update coupons
  set (coupon_code, is_user_based, is_apply_for_all, discount_percent, flat_discount, min_order, max_value, product_ids, starts_at, valid_till, max_limit_for_user, max_uses, exclusive_apply, is_invalidated) = (select coupon_code, is_user_based, is_apply_for_all, discount_percent, flat_discount, min_order, max_value, product_ids, starts_at, valid_till, max_limit_for_user, max_uses, exclusive_apply, is_invalidated from wanted), etag = default
  from seen join change using (id) where differs and coupons.id = seen.id and coupons.xmin = seen.xmin
  returning coupons.*, coupons.xmin
),
-- 6
unlinked_user_id as (
  delete from coupon_applicable_users using written
  where coupon_id = written.id and $applicableUsers::integer[] is not null and user_id not in (select unnest($applicableUsers::integer[]))
),
linked_user_id as (
  insert into coupon_applicable_users (coupon_id, user_id)
  select written.id, new_user_id.id from written, new_user_id order by new_user_id.id
  on conflict do nothing
),
unlinked_product_id as (
  delete from coupon_applicable_products using written
  where coupon_id = written.id and $applicableProducts::integer[] is not null and product_id not in (select unnest($applicableProducts::integer[]))
),
linked_product_id as (
  insert into coupon_applicable_products (coupon_id, product_id)
  select written.id, new_product_id.id from written, new_product_id order by new_product_id.id
  on conflict do nothing
),
coupon_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'coupon', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, before, after from change join written using (id) offset 0) as changes
),
kept as (
  select * from written
  union all select seen.* from seen join change using (id) where not differs
)
select found.*, (
  "hasUsers" and "usersExist" and "isCurrent" and "isCodeFree" and "productsExist") as "mayWrite",
coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
coupons.is_apply_for_all as "isApplyForAll",
coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
coupons.min_order as "minOrder", coupons.max_value as "maxValue", to_json(coupons.product_ids) as "productIds",
coupons.starts_at as "startsAt", coupons.valid_till as "validTill",
coupons.max_limit_for_user as "maxLimitForUser", coupons.max_uses as "maxUses", coupons.exclusive_apply as "exclusiveApply",
coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
coupons.etag, coupons.batch_id as "batchId"
from found left join kept as coupons on true
