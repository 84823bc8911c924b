import { type Actor, actorOf } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { onlyRow, type Queryable, statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { RedeemRequest, RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { holdColumns, isLive } from '../../../shared/holds/hold.ts';
import { type NamedUser, namedUser, readUser } from '../../../shared/holds/named-user.ts';
import { defaultHoldSeconds, holdAnew } from '../../../shared/holds/renew.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { decimal, toNumber, toNumericText } from '../coupons/decimals.ts';
import { type JudgedCoupon, judge, judgedColumns, notFound, refused, toLookedUpForm } from '../coupons/judgement.ts';
import { couponErrors } from '../errors.ts';
import type { RedemptionParts } from '../parts.ts';
import { type RedemptionRow, redemptionKind, toRedemption } from '../redemptions/redemption.ts';
import { lockRoom, room } from '../redemptions/room.ts';

/**
 * Design 13, redeem: holds or uses a coupon for an order. Reads the coupon and judges it. Then one statement looks at
 * the order, counts the user's uses and writes, unless the coupon was changed since. A refusal is no error.
 *
 * Throws NOT_FOUND for an unknown user, ALREADY_EXISTS for an order that has the coupon for another user, and with a
 * miss limit RESOURCE_EXHAUSTED, as `validate` does.
 */
export function redeem(parts: RedemptionParts): Handler<typeof RedemptionService.method.redeem> {
  const { database, missLimit, outcomes } = parts;
  return async (request, call) => {
    const user = readUser(request);
    if (request.code !== '') await missLimit?.require(call);
    const order = { ...request, ...user };
    const { mayWrite, userId, redemption, refusal } = await conditionalWrite(async (isRerun) => [
      isRerun
        ? await database.within(call, async (tx) => {
            // Nobody changes the coupon between the judgement and the write.
            await tx.query(lockRedeemedCoupon({ couponCode: toLookedUpForm(request.code) }));
            return attempt(tx, order, actorOf(call));
          })
        : await attempt(database.for(call), order, actorOf(call)),
    ]);
    if (redemption !== undefined && redemption.userId !== userId) throw fail(couponErrors.orderKeyTaken);
    if (redemption !== undefined && (mayWrite || redemption.state === 'USED')) {
      if (mayWrite) await outcomes.countWrite(call, redemption.state);
      const discountAmount = toNumber(decimal(redemption.discountAmount));
      return { valid: true, discountAmount, redemption: toRedemption(redemption) };
    }
    call.isRefused = true;
    await outcomes.countRefusal(call, ValidationRefusal[refusal.refusal]);
    // An invalidated coupon that the order has is no guess.
    if (refusal.refusal === ValidationRefusal.NOT_FOUND && redemption === undefined) await missLimit?.count(call);
    return { ...refusal, redemption: redemption && toRedemption(redemption) };
  };
}

const lockRedeemedCoupon = statement<never, { couponCode: string }>(
  'lockRedeemedCoupon',
  'select from coupons where coupon_code = $couponCode for share',
);

/** Judges the coupon and writes. Resolves with the order's redemption afterwards, and why nothing was written if so. */
async function attempt(db: Queryable, request: Omit<RedeemRequest, keyof NamedUser> & NamedUser, actor: Actor) {
  const { code, orderAmount, productIds, holdSeconds = defaultHoldSeconds, ...order } = request;
  const coupon = onlyRow(
    await db.query(selectRedeemedCoupon({ ...order, couponCode: toLookedUpForm(code), productIds })),
  );
  const { userId } = coupon;
  if (userId === null) throw fail(couponErrors.userNotFound);
  if (coupon.id === null) return { id: null, mayWrite: false, userId, redemption: undefined, refusal: notFound(code) };
  const judged = judgeForOrder(code, coupon, orderAmount);
  const discountAmount = judged.refused === undefined ? toNumericText(judged.discount) : undefined;
  const params = {
    ...actor,
    ...order,
    ...coupon,
    userId,
    couponId: coupon.id,
    orderAmount,
    discountAmount,
    holdSeconds,
  };
  const row = onlyRow(await db.pipeline([lockRoom(params)], upsertRedemption(params)));
  const refusal = judged.refused ?? (row.hasConflict ? exclusive : limitReached);
  return { id: row.id, mayWrite: row.mayWrite, userId, redemption: row.id === null ? undefined : row, refusal };
}

/** The coupon of the code. */
interface CouponForOrder extends JudgedCoupon {
  isInvalidated: boolean;
  isForUser: boolean;
  isForProducts: boolean;
  isExclusive: boolean;
  /** How many live redemptions a user may have; 0: no limit. */
  maxUses: number;
  /** Changes with each change of the coupon. */
  version: string;
}

/** Judges as Validate does, then by the order's user and products. */
function judgeForOrder(code: string, coupon: CouponForOrder, orderAmount: number) {
  const judged = judge(code, coupon.isInvalidated ? undefined : coupon, orderAmount);
  if (judged.refused !== undefined) return judged;
  if (!coupon.isForUser) return { refused: notForUser };
  return coupon.isForProducts ? judged : { refused: notForProducts };
}

const { NOT_FOR_USER, NOT_FOR_PRODUCTS, EXCLUSIVE, LIMIT_REACHED } = ValidationRefusal;
const notForUser = refused(NOT_FOR_USER, 'Coupon is not available for this user');
const notForProducts = refused(NOT_FOR_PRODUCTS, 'Coupon does not apply to these products');
const exclusive = refused(EXCLUSIVE, "Coupon can't be combined");
const limitReached = refused(LIMIT_REACHED, 'Coupon limit reached');

const selectRedeemedCoupon = statement<
  { userId: number | null } & (CouponForOrder | { id: null }),
  { couponCode: string; productIds: readonly number[] } & NamedUser
>(
  'redeemedCoupon',
  `select one.user_id as "userId", coupon.*
   from (select ${namedUser} as user_id) as one left join lateral (
     select ${judgedColumns}, is_invalidated as "isInvalidated", exclusive_apply as "isExclusive",
       coalesce(max_limit_for_user, 0) as "maxUses", xmin::text as version,
       is_apply_for_all or exists (
         select from coupon_applicable_users where coupon_id = coupons.id and user_id = one.user_id
       ) as "isForUser",
       coalesce(cardinality(product_ids), 0) = 0 and not exists (
         select from coupon_applicable_products where coupon_id = coupons.id
       )
       or exists (select unnest(product_ids) intersect select unnest($productIds::integer[]))
       or exists (
         select from unnest($productIds) as asked (id)
         join coupon_applicable_products on coupon_id = coupons.id and product_id = asked.id
       ) as "isForProducts"
     from coupons where coupon_code = $couponCode
   ) as coupon on true`,
);

interface WantedRedemption extends Actor {
  couponId: number;
  /** The version of the coupon that was judged. */
  version: string;
  isExclusive: boolean;
  maxUses: number;
  userId: number;
  orderKey: string;
  orderAmount: number;
  /** A decimal; undefined if the coupon is refused. */
  discountAmount: string | undefined;
  holdSeconds: number;
}

type Found = { hasConflict: boolean; mayWrite: boolean } & (RedemptionRow | { id: null });

const upsertRedemption = statement<Found, WantedRedemption>(
  'redeem',
  `with seen as materialized (
     select *, xmin from redemptions
     where order_key = $orderKey::text and coupon_id = $couponId::integer and ${isLive(redemptionKind)}
   ),
   asked as (
     select $couponId as coupon_id, $userId::integer as user_id, $orderKey as order_key, $maxUses::integer as max_uses,
       $isExclusive::boolean as is_exclusive, (select id from seen) as own_id
   ),
   ${room},
   found as materialized (
     select room.*, $discountAmount::numeric is not null and not "hasConflict" and not "isLimitReached"
       and not exists (select from seen where user_id <> $userId or state = 'USED') as "mayWrite"
     from room
   ),
   ${holdAnew(redemptionKind, {
     changing: { order_amount: '$orderAmount::numeric', discount_amount: 'trim_scale($discountAmount)' },
     fixed: { coupon_id: '$couponId', user_id: '$userId' },
     condition: 'exists (select from coupons where id = $couponId and xmin::text = $version)',
   })}
   select "hasConflict", "mayWrite", ${holdColumns(redemptionKind)}
   from found left join kept as redemptions on true`,
);
