-- What staff did last, as the services write it (shared/audit/entry.ts).
insert into audit_entries (at, procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes)
select
  at, procedure, 'staff-' || staff_id, staff_id, md5(procedure || id), type, id, before, after,
  coalesce(octet_length(before::text), 0) + octet_length(after::text)
from (
  select
    created_at as at, created_by as staff_id, 'coupon' as type, id, null::json as before,
    'coupon.v1.CouponService/' || case when id > 40 then 'GenerateCancellationCoupon' else 'Create' end as procedure,
    json_strip_nulls(json_build_object(
      'couponCode', coupon_code, 'isUserBased', is_user_based, 'isApplyForAll', is_apply_for_all, 'isInvalidated', is_invalidated,
      'discountPercent', discount_percent::text, 'flatDiscount', flat_discount::text, 'minOrder', min_order::text,
      'maxValue', max_value::text, 'startsAt', api_time(starts_at), 'validTill', api_time(valid_till),
      'maxLimitForUser', max_limit_for_user, 'maxUses', max_uses, 'exclusiveApply', exclusive_apply, 'createdBy', created_by,
      'createdAt', api_time(created_at),
      'applicableUsers', array(select user_id from coupon_applicable_users where coupon_id = coupons.id),
      'applicableProducts', array(select product_id from coupon_applicable_products where coupon_id = coupons.id)
    )) as after
  from coupons where id = 24 or id between 41 and 48
  union all
  select
    now() - make_interval(mins => minutes), staff_id, split_part(procedure, '.', 1), id, before::json, procedure, after::json
  from (values
    (2110, 2, 'slot.v1.SlotService/UpdateSlotCapacity', 44, '{"isCapacityFull":false}', '{"isCapacityFull":true}'),
    (1687, 4, 'slot.v1.SlotPlanService/UpdateSlots', 35, '{"capacity":24}', '{"capacity":30}'),
    (1203, 2, 'slot.v1.SlotService/DeleteSlot', 57, '{"isActive":true}', '{"isActive":false}'),
    (745, 3, 'coupon.v1.CouponService/Update', 4, '{"maxValue":"400"}', '{"maxValue":"500"}'),
    (268, 4, 'slot.v1.SlotPlanService/UpdateSlots', 42, '{"capacity":18}', '{"capacity":24}'),
    (41, 1, 'slot.v1.SlotService/UpdateSlotCapacity', 55, '{"isCapacityFull":false}', '{"isCapacityFull":true}')
  ) as changes (minutes, staff_id, procedure, id, before, after)
) as entries
order by at;
