select count(*)::integer as total from (select from (select from coupon_batches) as matching limit 10001) as counted
