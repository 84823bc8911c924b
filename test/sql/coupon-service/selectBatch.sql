select
coupon_batches.id, coupon_batches.name, coupon_batches.count, coupon_batches.invalidated,
coupon_batches.created_by as "createdBy", coupon_batches.created_at as "createdAt" from coupon_batches where id = $id
