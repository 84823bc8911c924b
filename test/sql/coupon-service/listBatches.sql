select
coupon_batches.id, coupon_batches.name, coupon_batches.count, coupon_batches.invalidated,
coupon_batches.created_by as "createdBy", coupon_batches.created_at as "createdAt" from coupon_batches where id < coalesce($after::bigint, 2147483648) order by id desc limit $rows::integer
