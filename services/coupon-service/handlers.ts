import type { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import type { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { Handlers } from '../../shared/rpc/implementation.ts';
import type { BatchParts, CouponParts, RedemptionParts } from './parts.ts';
import { check } from './procedures/check.ts';
import { claim } from './procedures/claim.ts';
import { confirm } from './procedures/confirm.ts';
import { create } from './procedures/create.ts';
import { createBatch } from './procedures/create-batch.ts';
import { createCoupon } from './procedures/create-coupon.ts';
import { createReservedCoupon } from './procedures/create-reserved-coupon.ts';
import { deleteCoupon } from './procedures/delete.ts';
import { generateCancellationCoupon } from './procedures/generate-cancellation-coupon.ts';
import { getAll } from './procedures/get-all.ts';
import { getBatch } from './procedures/get-batch.ts';
import { getById } from './procedures/get-by-id.ts';
import { getOverview } from './procedures/get-overview.ts';
import { getReservedCoupons } from './procedures/get-reserved-coupons.ts';
import { getUsage } from './procedures/get-usage.ts';
import { getUsersMiniInfo } from './procedures/get-users-mini-info.ts';
import { invalidateBatch } from './procedures/invalidate-batch.ts';
import { listBatches } from './procedures/list-batches.ts';
import { listRedemptions } from './procedures/list-redemptions.ts';
import { redeem } from './procedures/redeem.ts';
import { release } from './procedures/release.ts';
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

/** The redemption procedures (design 13). */
export function createRedemptionHandlers(parts: RedemptionParts): Handlers<typeof RedemptionService> {
  return {
    redeem: redeem(parts),
    check: check(parts),
    confirm: confirm(parts),
    release: release(parts),
    claim: claim(parts),
    listRedemptions: listRedemptions(parts),
    getUsage: getUsage(parts),
    getOverview: getOverview(parts),
  };
}

/** The batch procedures (design 13). */
export function createCouponBatchHandlers(parts: BatchParts): Handlers<typeof CouponBatchService> {
  return {
    createBatch: createBatch(parts),
    getBatch: getBatch(parts),
    listBatches: listBatches(parts),
    invalidateBatch: invalidateBatch(parts),
  };
}
