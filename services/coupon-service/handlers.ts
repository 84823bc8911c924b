import type { Database } from '../../shared/db/database.ts';
import { invalidField } from '../../shared/errors/errors.ts';
import type { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handlers } from '../../shared/rpc/implementation.ts';
import { createCoupon } from './coupon-create.ts';
import { getAllCoupons } from './coupon-listing.ts';
import { updateCoupon } from './coupon-update.ts';
import { getCouponById, invalidateCoupon } from './coupons.ts';
import {
  readCouponBody,
  toCoupon,
  toCouponDetail,
  toListedCoupon,
  toListedReservedCoupon,
  toReservedCoupon,
} from './messages.ts';
import { createPhoneCoupon } from './phone.ts';
import { generateCancellationCoupon } from './refunds.ts';
import { createReservedCoupon } from './reserved.ts';
import { getReservedCoupons } from './reserved-listing.ts';
import { getUsersMiniInfo } from './users.ts';
import { validateCoupon } from './validation.ts';

export interface CouponHandlerParts {
  readonly database: Database;
  /** The two letters that generated coupon codes start with. */
  readonly codePrefix: string;
}

/**
 * The eleven coupon procedures (spec 4.2): from protobuf to plain values, to the rule, and back. A
 * staff id is looked up before the rules, which judge it at its place.
 */
export function createCouponHandlers({ database, codePrefix }: CouponHandlerParts): Handlers<typeof CouponService> {
  return {
    async create(request, call) {
      const body = readCouponBody('coupon', request.coupon);
      const staffId = await call.staffId();
      const coupon = await createCoupon(database.withSignal(call.signal), body, { staffId, codePrefix });
      return { coupon: toCoupon(coupon) };
    },

    async getAll(request, call) {
      const page = await getAllCoupons(database.withSignal(call.signal), request);
      return {
        coupons: page.rows.map(toListedCoupon),
        nextCursor: page.nextCursor,
        nextPageToken: page.nextPageToken,
      };
    },

    async getById(request, call) {
      const coupon = await getCouponById(database.withSignal(call.signal), request.id);
      return { coupon: toCouponDetail(coupon) };
    },

    async update(request, call) {
      const updates = {
        ...readCouponBody('updates.coupon', request.updates?.coupon),
        isInvalidated: request.updates?.isInvalidated,
      };
      if (updates.couponCode === '') throw invalidField('updates.coupon.coupon_code', 'must not be empty');
      const coupon = await updateCoupon(database.withSignal(call.signal), request.id, updates);
      return { coupon: toCoupon(coupon) };
    },

    async delete(request, call) {
      await invalidateCoupon(database.withSignal(call.signal), request.id);
      return { message: 'Coupon invalidated successfully' };
    },

    async validate(request, call) {
      const result = await validateCoupon(database.withSignal(call.signal), request.code, request.orderAmount);
      if (!result.valid) return result;
      const { id, discountPercent, flatDiscount, maxValue } = result.coupon;
      return {
        valid: true,
        discountAmount: result.discountAmount,
        coupon: {
          id,
          discountPercent: discountPercent ?? undefined,
          flatDiscount: flatDiscount ?? undefined,
          maxValue: maxValue ?? undefined,
        },
      };
    },

    async generateCancellationCoupon(request, call) {
      const staffId = await call.staffId();
      const coupon = await generateCancellationCoupon(database.withSignal(call.signal), request.orderId, staffId);
      return { coupon: toCoupon(coupon) };
    },

    async getReservedCoupons(request, call) {
      const page = await getReservedCoupons(database.withSignal(call.signal), request);
      return {
        coupons: page.rows.map(toListedReservedCoupon),
        nextCursor: page.nextCursor,
        nextPageToken: page.nextPageToken,
      };
    },

    async createReservedCoupon(request, call) {
      const body = readCouponBody('coupon', request.coupon);
      const staffId = await call.staffId();
      const reserved = await createReservedCoupon(database.withSignal(call.signal), body, staffId);
      return { reservedCoupon: toReservedCoupon(reserved) };
    },

    async getUsersMiniInfo(request, call) {
      return { users: await getUsersMiniInfo(database.withSignal(call.signal), request) };
    },

    async createCoupon(request, call) {
      const staffId = await call.staffId();
      const coupon = await createPhoneCoupon(database.withSignal(call.signal), request.mobile, { staffId, codePrefix });
      return { success: true, coupon };
    },
  };
}
