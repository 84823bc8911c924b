select from coupons where coupon_code = $couponCode for share
