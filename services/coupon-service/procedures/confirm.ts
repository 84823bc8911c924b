import { actorOf } from '../../../shared/audit/entry.ts';
import type { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { confirmHold, confirmStatement } from '../../../shared/holds/confirm.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { couponErrors } from '../errors.ts';
import type { RedemptionParts } from '../parts.ts';
import { type RedemptionRow, redemptionKind, toRedemption } from '../redemptions/redemption.ts';
import { hasRoom, locksOfRoom, room } from '../redemptions/room.ts';

/**
 * Design 13, confirm: uses the coupon that a redemption holds. A hold that has run out is taken again if there is still
 * room. Throws NOT_FOUND, and FAILED_PRECONDITION for a hold without room and for a released redemption.
 */
export function confirm({ database, outcomes }: RedemptionParts): Handler<typeof RedemptionService.method.confirm> {
  return async ({ redemptionId: id }, call) => {
    const write = useRedemption({ ...actorOf(call), id });
    const found = await confirmHold(database.for(call), locksOfRoom({ id }), write, errors);
    if (found.mayWrite) await outcomes.countWrite(call, found.state);
    return { redemption: toRedemption(found) };
  };
}

const errors = {
  notFound: couponErrors.redemptionNotFound,
  released: couponErrors.redemptionReleased,
  expired: couponErrors.holdExpired,
};

const useRedemption = confirmStatement<RedemptionRow>(redemptionKind, {
  room: `asked as (
     select coupon_id, user_id, order_key, coalesce(max_limit_for_user, 0) as max_uses_of_user,
       coalesce(max_uses, 0) as max_uses, coalesce(exclusive_apply, false) as is_exclusive, null::integer as own_id
     from seen left join coupons on coupons.id = coupon_id
   ),
   ${room}`,
  hasRoom,
  heldColumn: 'coupon_id',
});
