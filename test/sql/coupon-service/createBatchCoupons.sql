with free as (
  select code from unnest($codes::text[]) with ordinality as drawn (code, place)
  where not exists (select from coupons where coupon_code = code)
  order by place limit cardinality($codes) - 20
),
written as (
  insert into coupons (batch_id, created_by, coupon_code, is_user_based, is_apply_for_all, discount_percent, flat_discount, min_order, max_value, product_ids, starts_at, valid_till, max_limit_for_user, max_uses, exclusive_apply)
  select $batchId::integer, $staffId::integer, code, $isUserBased::boolean, $isApplyForAll::boolean, $discountPercent::numeric, $flatDiscount::numeric, $minOrder::numeric, $maxValue::numeric, $productIds::integer[], $startsAt::timestamptz, $validTill::timestamptz, $maxLimitForUser::integer, $maxUses::integer, $exclusiveApply::boolean
  from free where case when true then $keyId::bytea is null or is_new_key($keyId) else false end
  on conflict (coupon_code) do nothing
  returning id
),
linked_user_id as (
  insert into coupon_applicable_users (coupon_id, user_id)
  select written.id, given.id from written, (select unnest($applicableUsers::integer[]) as id order by id) as given
),
linked_product_id as (
  insert into coupon_applicable_products (coupon_id, product_id)
  select written.id, given.id from written, (select unnest($applicableProducts::integer[]) as id order by id) as given
)
select case when (select count(*) from written) < cardinality($codes) - 20 then refuse_lost_race() end as "lostRace"
