import { type Actor, actorOf } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { onlyRow, type Queryable, statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { RedeemRequest, RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { holdColumns } from '../../../shared/holds/hold.ts';
import { type NamedUser, readUser } from '../../../shared/holds/named-user.ts';
import { defaultHoldSeconds, holdAnew } from '../../../shared/holds/renew.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type Decimal, decimal, toNumber, toNumericText } from '../coupons/decimals.ts';
import { isBelowMinimum, notFound, refusalOf, toLookedUpForm } from '../coupons/judgement.ts';
import { couponErrors } from '../errors.ts';
import type { RedemptionParts } from '../parts.ts';
import { discountFor, type Products, readAmount, readProducts, selectForOrder } from '../redemptions/order.ts';
import { type RedemptionRow, redemptionKind, toRedemption } from '../redemptions/redemption.ts';
import { type AskedRoom, hasRoom, lockRoom, type Room, roomOfOrder } from '../redemptions/room.ts';

/**
 * Design 13, redeem: holds or uses a coupon for an order. Reads the coupon and judges it. Then one statement looks at
 * the order, counts the uses and writes. If the coupon was changed since, it begins again. A refusal is no error.
 *
 * Throws NOT_FOUND for an unknown user, ALREADY_EXISTS for an order that has the coupon for another user, and with a
 * miss limit RESOURCE_EXHAUSTED, as `validate` does.
 */
export function redeem(parts: RedemptionParts): Handler<typeof RedemptionService.method.redeem> {
  const { database, missLimit, outcomes, currencyDigits } = parts;
  return async (request, call) => {
    const user = readUser(request);
    const products = readProducts(request, currencyDigits);
    // An order that says no products has none.
    const productIds = products.productIds ?? [];
    const orderAmount = readAmount(request.orderAmount, currencyDigits);
    const order = { ...request, ...user, ...products, productIds, orderAmount };
    if (request.code !== '') await missLimit?.require(call);
    const { mayWrite, userId, redemption, refusal } = await conditionalWrite(async (isRerun) => [
      isRerun
        ? await database.within(call, async (tx) => {
            // Nobody changes the coupon between the judgement and the write.
            await tx.query(lockRedeemedCoupon({ couponCode: toLookedUpForm(request.code) }));
            return attempt(parts, tx, order, actorOf(call));
          })
        : await attempt(parts, database.for(call), order, actorOf(call)),
    ]);
    // An invalidated coupon that the order has is no guess.
    if (refusal?.refusal === ValidationRefusal.NOT_FOUND && redemption === undefined) await missLimit?.count(call);
    if (userId === null) throw fail(couponErrors.userNotFound);
    if (redemption !== undefined && redemption.userId !== userId) throw fail(couponErrors.orderKeyTaken);
    if (refusal !== undefined && redemption?.state !== 'USED') {
      await outcomes.countRefusal(call, ValidationRefusal[refusal.refusal]);
      return { ...refusal, redemption: redemption && toRedemption(redemption) };
    }
    if (redemption === undefined) throw new Error('nothing refuses the redemption, and it was not written');
    if (mayWrite) await outcomes.countWrite(call, redemption.state);
    const discountAmount = toNumber(decimal(redemption.discountAmount));
    return { valid: true, discountAmount, redemption: toRedemption(redemption) };
  };
}

const lockRedeemedCoupon = statement<never, { couponCode: string }>(
  'lockRedeemedCoupon',
  'select from coupons where coupon_code = $couponCode for share',
);

type Order = Omit<RedeemRequest, keyof NamedUser | keyof Products | 'orderAmount'> &
  NamedUser &
  Products & { readonly orderAmount: Decimal };

/** Judges the coupon and writes. Resolves with the order's redemption afterwards, and why nothing was written if so. */
async function attempt({ limitedCodes, currencyDigits }: RedemptionParts, db: Queryable, order: Order, actor: Actor) {
  const { code, holdSeconds = defaultHoldSeconds } = order;
  const couponCode = toLookedUpForm(code);
  const coupon = onlyRow(await db.query(selectForOrder({ ...order, couponCode })));
  const { userId } = coupon;
  const missed = code === '' || coupon.id === null || coupon.isInvalidated ? notFound(code) : undefined;
  if (userId === null || code === '' || coupon.id === null)
    return { id: null, mayWrite: false, userId, redemption: undefined, refusal: missed };
  if (coupon.maxUses > 0) limitedCodes.set(couponCode, true);
  else limitedCodes.delete(couponCode);
  const isBelow = isBelowMinimum(coupon, order.orderAmount, currencyDigits);
  const refused = missed ?? refusalOf(coupon, { isBelowMinimum: isBelow });
  const discount = refused === undefined ? discountFor(coupon, order, currencyDigits) : undefined;
  const amounts = {
    orderAmount: toNumericText(order.orderAmount),
    discountAmount: discount && toNumericText(discount),
  };
  const params = { ...actor, ...order, ...coupon, ...amounts, userId, couponId: coupon.id, holdSeconds };
  const row = onlyRow(await db.pipeline([lockRoom(params)], upsertRedemption(params)));
  const refusal = refused ?? refusalOf(coupon, row);
  return { id: row.id, mayWrite: row.mayWrite, userId, redemption: row.id === null ? undefined : row, refusal };
}

interface WantedRedemption extends Actor, AskedRoom {
  /** The version of the coupon that was judged. */
  version: string;
  /** A decimal. */
  orderAmount: string;
  /** A decimal; undefined if the coupon is refused. */
  discountAmount: string | undefined;
  holdSeconds: number;
}

type Found = Room & { mayWrite: boolean } & (RedemptionRow | { id: null });

// A coupon that was changed since it was judged decides nothing, no refusal either: the statement loses the race. With an
// error, so that the transaction of a keyed call gives its locks back: the next run may need a lock that others share.
const upsertRedemption = statement<Found, WantedRedemption>(
  'redeem',
  `with ${roomOfOrder},
   found as materialized (
     select room.*, $discountAmount::numeric is not null and ${hasRoom}
       and not exists (select from seen where user_id <> $userId or state = 'USED') as "mayWrite"
     from room
   ),
   ${holdAnew(redemptionKind, {
     changing: { order_amount: 'trim_scale($orderAmount::numeric)', discount_amount: 'trim_scale($discountAmount)' },
     fixed: { coupon_id: '$couponId', user_id: '$userId' },
   })}
   select found.*, ${holdColumns(redemptionKind)},
     case when not exists (select from coupons where id = $couponId and xmin::text = $version) then refuse_lost_race() end
       as "lostRace"
   from found left join kept as redemptions on true`,
);
