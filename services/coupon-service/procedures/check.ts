import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import { ConditionState, type RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { readUserIfGiven } from '../../../shared/holds/named-user.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { toNumber } from '../coupons/decimals.ts';
import { conditionsOf, isBelowMinimum, notFound, toLookedUpForm } from '../coupons/judgement.ts';
import { couponErrors } from '../errors.ts';
import type { RedemptionParts } from '../parts.ts';
import { discountFor, readProducts, selectForOrder } from '../redemptions/order.ts';
import { type AskedRoom, type Room, roomOfOrder } from '../redemptions/room.ts';

/**
 * Design 16, check: every condition of Redeem, by the same rules, for what the request says. Writes nothing.
 *
 * Throws as `redeem` does, but a user may be missing.
 */
export function check(parts: RedemptionParts): Handler<typeof RedemptionService.method.check> {
  const { database, missLimit, currencyDigits } = parts;
  return async ({ code, orderKey, orderAmount, ...request }, call) => {
    const user = readUserIfGiven(request);
    const products = readProducts(request.productIds, request.lines);
    if (code !== '') await missLimit?.require(call);
    const isSaid = products.productIds.length > 0;
    const asked = { ...user, ...products, productIds: isSaid ? products.productIds : undefined };
    const db = database.for(call);
    const coupon = onlyRow(await db.query(selectForOrder({ ...asked, couponCode: toLookedUpForm(code) })));
    const userId = coupon.userId ?? undefined;
    if (userId === undefined && (user.userId ?? user.userExternalId) !== undefined)
      throw fail(couponErrors.userNotFound);
    if (coupon.id === null) return missed();
    const room = onlyRow(
      await db.query(selectRoom({ ...coupon, couponId: coupon.id, userId, orderKey: orderKey || undefined })),
    );
    if (userId !== undefined && room.ownUserId !== null && room.ownUserId !== userId)
      throw fail(couponErrors.orderKeyTaken);
    if (coupon.isInvalidated) return room.ownUserId === null ? missed() : unknown();
    const conditions = conditionsOf(coupon, { ...room, isBelowMinimum: isBelowMinimum(coupon, orderAmount) });
    const discount = discountFor(coupon, { ...products, orderAmount }, currencyDigits);
    return {
      couponId: coupon.id,
      conditions,
      valid: conditions.every(({ state }) => state !== ConditionState.FAILED),
      discountAmount: discount && toNumber(discount),
      usesLeftForUser: room.usesLeftForUser ?? undefined,
      usesLeft: room.usesLeft ?? undefined,
    };

    function unknown() {
      const { refusal, message } = notFound(code);
      return { conditions: [{ condition: refusal, state: ConditionState.FAILED, message }], valid: false };
    }

    async function missed() {
      if (code !== '') await missLimit?.count(call);
      return unknown();
    }
  };
}

const selectRoom = statement<Room & { ownUserId: number | null }, AskedRoom>(
  'roomForCheck',
  `with ${roomOfOrder} select room.*, (select user_id from seen) as "ownUserId" from room`,
);
