select
reserved_coupons.id, reserved_coupons.secret_code as "secretCode", reserved_coupons.coupon_code as "couponCode",
reserved_coupons.discount_percent as "discountPercent", reserved_coupons.flat_discount as "flatDiscount",
reserved_coupons.min_order as "minOrder", reserved_coupons.max_value as "maxValue", reserved_coupons.product_ids[:100] as "productIds",
reserved_coupons.starts_at as "startsAt", reserved_coupons.valid_till as "validTill",
reserved_coupons.max_limit_for_user as "maxLimitForUser", reserved_coupons.max_uses as "maxUses", reserved_coupons.exclusive_apply as "exclusiveApply",
reserved_coupons.created_by as "createdBy", reserved_coupons.created_at as "createdAt", staff_users.name as "creatorName",
case when redeemed_by is not null then json_build_array(redeemed_by, users.name, users.email, users.mobile) end as "redeemedUser",
coalesce(cardinality(reserved_coupons.product_ids), 0) as "productIdsCount",
(extract(epoch from reserved_coupons.created_at) * 1000000)::bigint as "createdAtMicros"
from (select shown.* from unnest(current_setting('found.ids')::integer[]) with ordinality as ids (id, place), lateral (select * from reserved_coupons where id = ids.id offset 0) as shown) as reserved_coupons join staff_users on staff_users.id = reserved_coupons.created_by
left join users on users.id = reserved_coupons.redeemed_by
order by "createdAtMicros" desc, id desc
