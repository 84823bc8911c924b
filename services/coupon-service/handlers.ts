import type { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handlers } from '../../shared/rpc/implementation.ts';
import type { CouponParts } from './parts.ts';
import { create } from './procedures/create.ts';
import { createCoupon } from './procedures/create-coupon.ts';
import { createReservedCoupon } from './procedures/create-reserved-coupon.ts';
import { deleteCoupon } from './procedures/delete.ts';
import { generateCancellationCoupon } from './procedures/generate-cancellation-coupon.ts';
import { getAll } from './procedures/get-all.ts';
import { getById } from './procedures/get-by-id.ts';
import { getReservedCoupons } from './procedures/get-reserved-coupons.ts';
import { getUsersMiniInfo } from './procedures/get-users-mini-info.ts';
import { update } from './procedures/update.ts';
import { validate } from './procedures/validate.ts';

/** The coupon procedures (spec 4.2). */
export function createCouponHandlers(parts: CouponParts): Handlers<typeof CouponService> {
  return {
    create: create(parts),
    getAll: getAll(parts),
    getById: getById(parts),
    update: update(parts),
    delete: deleteCoupon(parts),
    validate: validate(parts),
    generateCancellationCoupon: generateCancellationCoupon(parts),
    getReservedCoupons: getReservedCoupons(parts),
    createReservedCoupon: createReservedCoupon(parts),
    getUsersMiniInfo: getUsersMiniInfo(parts),
    createCoupon: createCoupon(parts),
  };
}
