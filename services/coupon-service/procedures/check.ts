import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import { ConditionState, type RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { readUserIfGiven } from '../../../shared/holds/named-user.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { toNumber } from '../coupons/decimals.ts';
import { conditionsOf, isBelowMinimum, notFound, toLookedUpForm } from '../coupons/judgement.ts';
import { couponErrors } from '../errors.ts';
import type { RedemptionParts } from '../parts.ts';
import { discountFor, readAmount, readProducts, selectForOrder } from '../redemptions/order.ts';
import { type AskedRoom, type Room, roomOfOrder } from '../redemptions/room.ts';

/**
 * Design 16, check: every condition of Redeem, by the same rules, for what the request says. Writes nothing.
 *
 * Throws as `redeem` does, but a user may be missing.
 */
export function check(parts: RedemptionParts): Handler<typeof RedemptionService.method.check> {
  const { database, missLimit, currencyDigits } = parts;
  return async ({ code, orderKey, ...request }, call) => {
    const user = readUserIfGiven(request);
    const products = readProducts(request, currencyDigits);
    const orderAmount = request.orderAmount === undefined ? undefined : readAmount(request.orderAmount, currencyDigits);
    if (code !== '') await missLimit?.require(call);
    const db = database.for(call);
    const couponCode = toLookedUpForm(code);
    const coupon = onlyRow(await db.query(selectForOrder({ ...user, ...products, couponCode })));
    const userId = coupon.userId ?? undefined;
    const isUserUnknown = userId === undefined && (user.userId ?? user.userExternalId) !== undefined;
    const asked = { userId, orderKey: orderKey || undefined };
    const found = code === '' || coupon.id === null ? undefined : coupon;
    const judged = isUserUnknown ? undefined : found;
    const room = judged && onlyRow(await db.query(selectRoom({ ...judged, ...asked, couponId: judged.id })));
    const ownUserId = room?.ownUserId ?? undefined;
    if (userId !== undefined && ownUserId !== undefined && ownUserId !== userId) throw fail(couponErrors.orderKeyTaken);
    const isUsable = found !== undefined && !found.isInvalidated;
    // An invalidated coupon that the order has is no guess.
    if (code !== '' && !isUsable && ownUserId === undefined) await missLimit?.count(call);
    if (isUserUnknown) throw fail(couponErrors.userNotFound);
    if (!isUsable || room === undefined) {
      const { refusal, message } = notFound(code);
      return { conditions: [{ condition: refusal, state: ConditionState.FAILED, message }], valid: false };
    }
    const isBelow = isBelowMinimum(found, orderAmount, currencyDigits);
    const conditions = conditionsOf(found, { ...room, isBelowMinimum: isBelow });
    const discount = discountFor(found, { ...products, orderAmount }, currencyDigits);
    return {
      couponId: found.id,
      conditions,
      valid: conditions.every(({ state }) => state !== ConditionState.FAILED),
      discountAmount: discount && toNumber(discount),
      usesLeftForUser: room.usesLeftForUser ?? undefined,
      usesLeft: room.usesLeft ?? undefined,
    };
  };
}

const selectRoom = statement<Room & { ownUserId: number | null }, AskedRoom>(
  'roomForCheck',
  `with ${roomOfOrder} select room.*, (select user_id from seen) as "ownUserId" from room`,
);
