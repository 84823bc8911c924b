import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { couponErrors } from '../errors.ts';
import type { CouponParts } from '../parts.ts';

/** Spec 4.2, delete: invalidates the coupon and keeps its record. Throws NOT_FOUND. */
export function deleteCoupon({ database }: CouponParts): Handler<typeof CouponService.method.delete> {
  return async ({ id }, call) => {
    const [coupon] = await database.for(call).query(invalidateCoupon({ id }));
    if (coupon === undefined) throw fail(couponErrors.couponNotFound);
    return { message: 'Coupon invalidated successfully' };
  };
}

const invalidateCoupon = statement<{ id: number }, { id: number }>(
  'delete',
  'update coupons set is_invalidated = true where id = $id returning id',
);
