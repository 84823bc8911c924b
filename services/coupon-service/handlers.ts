import type { Database } from '../../shared/db/database.ts';
import type { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { invalidField } from '../../shared/rpc/errors.ts';
import type { Handlers } from '../../shared/rpc/implementation.ts';
import { getAllCoupons } from './coupon-listing.ts';
import { updateCoupon } from './coupon-update.ts';
import { createCoupon, getCouponById, invalidateCoupon } from './coupons.ts';
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
 * The eleven coupon procedures (spec 4.2): from protobuf to plain values, to the rule, and back.
 *
 * The staff id is looked up before the transaction, which must not wait for a second connection;
 * the rule judges it at its place.
 */
export function createCouponHandlers({ database, codePrefix }: CouponHandlerParts): Handlers<typeof CouponService> {
  return {
    async create(request, call) {
      const body = readCouponBody('coupon', request.coupon);
      const staffId = await call.staffId();
      const coupon = await database.transaction(call.signal, (tx) => createCoupon(tx, body, { staffId, codePrefix }));
      return { coupon: toCoupon(coupon) };
    },

    async getAll(request, call) {
      const page = await getAllCoupons(database.during(call.signal), request);
      return {
        coupons: page.rows.map(toListedCoupon),
        nextCursor: page.nextCursor,
        nextPageToken: page.nextPageToken,
      };
    },

    async getById(request, call) {
      const coupon = await getCouponById(database.during(call.signal), request.id);
      return { coupon: toCouponDetail(coupon) };
    },

    async update(request, call) {
      const updates = {
        ...readCouponBody('updates.coupon', request.updates?.coupon),
        isInvalidated: request.updates?.isInvalidated,
      };
      if (updates.couponCode === '') throw invalidField('updates.coupon.coupon_code', 'must not be empty');
      const coupon = await database.transaction(call.signal, (tx) => updateCoupon(tx, request.id, updates));
      return { coupon: toCoupon(coupon) };
    },

    async delete(request, call) {
      await invalidateCoupon(database.during(call.signal), request.id);
      return { message: 'Coupon invalidated successfully' };
    },

    async validate(request, call) {
      const result = await validateCoupon(database.during(call.signal), request.code, request.orderAmount);
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
      const coupon = await database.transaction(call.signal, (tx) =>
        generateCancellationCoupon(tx, request.orderId, staffId),
      );
      return { coupon: toCoupon(coupon) };
    },

    async getReservedCoupons(request, call) {
      const page = await getReservedCoupons(database.during(call.signal), request);
      return {
        coupons: page.rows.map(toListedReservedCoupon),
        nextCursor: page.nextCursor,
        nextPageToken: page.nextPageToken,
      };
    },

    async createReservedCoupon(request, call) {
      const body = readCouponBody('coupon', request.coupon);
      const staffId = await call.staffId();
      const reserved = await database.transaction(call.signal, (tx) => createReservedCoupon(tx, body, staffId));
      return { reservedCoupon: toReservedCoupon(reserved) };
    },

    async getUsersMiniInfo(request, call) {
      return { users: await getUsersMiniInfo(database.during(call.signal), request) };
    },

    async createCoupon(request, call) {
      const staffId = await call.staffId();
      const coupon = await database.transaction(call.signal, (tx) =>
        createPhoneCoupon(tx, request.mobile, { staffId, codePrefix }),
      );
      return { success: true, coupon };
    },
  };
}
