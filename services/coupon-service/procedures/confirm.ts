import { type Actor, actorOf, auditEntry, differing } from '../../../shared/audit/entry.ts';
import { conditionalWrite, isAsSeen } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { couponErrors } from '../errors.ts';
import type { RedemptionParts } from '../parts.ts';
import {
  changingFields,
  isLive,
  type RedemptionRow,
  redemptionColumns,
  stateOf,
  toRedemption,
} from '../redemptions/redemption.ts';
import { lockRoomOf, room } from '../redemptions/room.ts';

/**
 * Design 13, confirm: uses the coupon that a redemption holds. A hold that has run out is taken again if there is still
 * room. Throws NOT_FOUND, and FAILED_PRECONDITION for a hold without room and for a released redemption.
 */
export function confirm(parts: RedemptionParts): Handler<typeof RedemptionService.method.confirm> {
  return async ({ redemptionId: id }, call) => {
    const write = useRedemption({ ...actorOf(call), id });
    const db = parts.database.for(call);
    const found = await conditionalWrite(() => db.pipeline([lockRoomOf({ id })], write));
    if (found.id === null) throw fail(couponErrors.redemptionNotFound);
    if (found.state === 'RELEASED') throw fail(couponErrors.redemptionReleased);
    if (found.state === 'EXPIRED') throw fail(couponErrors.holdExpired);
    if (found.mayWrite) await parts.outcomes.countAfterWrite(call, found.state);
    return { redemption: toRedemption(found) };
  };
}

type Found = { mayWrite: boolean } & (RedemptionRow | { id: null });

const useRedemption = statement<Found, { id: number } & Actor>(
  'confirm',
  `with seen as materialized (
     select *, ${stateOf('redemptions')} as current_state, xmin from redemptions where id = $id
   ),
   asked as (
     select coupon_id, user_id, order_key, coalesce(max_limit_for_user, 0) as max_uses,
       coalesce(exclusive_apply, false) as is_exclusive, seen.id as own_id
     from seen left join coupons on coupons.id = coupon_id
   ),
   ${room},
   found as materialized (
     select current_state = 'HELD' or current_state = 'EXPIRED' and not "hasConflict" and not "isLimitReached" and not exists (
         select from redemptions
         where order_key = seen.order_key and coupon_id = seen.coupon_id and ${isLive('redemptions')}
       ) as "mayWrite"
     from seen, room
   ),
   written as (
     update redemptions set state = 'USED', used_at = statement_timestamp(), held_until = null
     from seen, found where "mayWrite" and ${isAsSeen('redemptions')}
     returning redemptions.*
   ),
   ${auditEntry(
     'redemption',
     differing(
       `select id, json_build_object(${changingFields('seen')}) as old, json_build_object(${changingFields('written')}) as new
        from seen join written using (id)`,
     ),
   )}
   select coalesce("mayWrite", false) as "mayWrite", ${redemptionColumns}
   from (values (1)) as one left join found on true left join (
     select * from written
     union all select redemptions.* from redemptions, found where id = $id and not "mayWrite"
   ) as redemptions on true`,
);
