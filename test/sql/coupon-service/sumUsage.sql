select coalesce(sum(used), 0)::integer as uses, trim_scale(coalesce(sum(discount_used), 0)) as "discountGiven"
from coupons join coupon_usage on coupon_id = coupons.id where batch_id = $id
