import { type Actor, actorOf } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { BookingRefusal, SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { holdColumns, isLive } from '../../../shared/holds/hold.ts';
import { type NamedUser, namedUser, readUserIfGiven } from '../../../shared/holds/named-user.ts';
import { defaultHoldSeconds, holdAnew } from '../../../shared/holds/renew.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BookingRow, bookingKind, toBooking } from '../bookings/booking.ts';
import { finishBooking, refuse } from '../bookings/outcome.ts';
import { leftOf, refusalOf, requestRefreshOf, slotRow } from '../bookings/room.ts';
import { slotErrors } from '../errors.ts';
import type { BookingParts } from '../parts.ts';
import { lockUnits } from '../slots/capacity.ts';
import { anyStoreRequestIdColumn } from '../stores/requests.ts';

/**
 * Design 15, book: holds or books units of a slot for an order. One statement judges the slot, counts its units and
 * writes. A refusal is no error.
 *
 * Throws INVALID_ARGUMENT for a user who is named in both ways, NOT_FOUND for an unknown slot or user, and
 * ALREADY_EXISTS for an order that has a booking for another user.
 */
export function book(parts: BookingParts): Handler<typeof SlotBookingService.method.book> {
  return async (request, call) => {
    const { slotId, orderKey, holdSeconds = defaultHoldSeconds } = request;
    const order = { slotId, orderKey, units: request.units || 1, holdSeconds, ...readUserIfGiven(request) };
    const upsert = upsertBooking({ ...actorOf(call), ...order });
    const db = parts.database.for(call);
    const found = await conditionalWrite(() => db.pipeline([lockUnits({ slotIds: [slotId] })], upsert));
    if (!found.slotExists) throw fail(slotErrors.slotNotFound);
    if (!found.userExists) throw fail(slotErrors.userNotFound);
    if (found.isOthers) throw fail(slotErrors.orderKeyTaken);
    const answer = {
      booking: found.id === null ? undefined : toBooking(found),
      remaining: found.remaining ?? undefined,
    };
    if (found.refusal !== null) return { ...answer, booked: false, ...(await refuse(parts, call, found.refusal)) };
    if (found.mayWrite) await finishBooking(parts, call, found.state, found.storeRequestId);
    return { ...answer, booked: true };
  };
}

interface WantedBooking extends Actor, NamedUser {
  slotId: number;
  orderKey: string;
  units: number;
  holdSeconds: number;
}

type Found = {
  slotExists: boolean;
  userExists: boolean;
  /** The order has a live booking of the slot for another user. */
  isOthers: boolean;
  refusal: BookingRefusal | null;
  mayWrite: boolean;
  /** The units that are left of a slot that is counted. */
  remaining: number | null;
  storeRequestId: string | null;
} & (BookingRow | { id: null });

// An order that asks for no more than its booking has is not judged: it takes nothing from the slot. One that is booked
// with as many units stays as it is, but may get a user.
const upsertBooking = statement<Found, WantedBooking>(
  'book',
  `with ${slotRow('$slotId::integer')},
   seen as materialized (
     select *, xmin from slot_bookings
     where order_key = $orderKey::text and slot_id = $slotId and ${isLive(bookingKind)}
   ),
   asked as materialized (
     select one.user_id, slot.id is not null as "slotExists",
       $userId::integer is null and $userExternalId::text is null or one.user_id is not null as "userExists",
       coalesce(seen.user_id <> one.user_id, false) as "isOthers", coalesce(seen.state = 'BOOKED', false) as is_booked,
       coalesce(seen.state = 'BOOKED' and seen.units = $units::integer, false) as is_unchanged,
       $units - coalesce(seen.units, 0) as more,
       case when $units > coalesce(seen.units, 0) then ${refusalOf('$units - coalesce(seen.units, 0)')} end as refusal
     from (select ${namedUser} as user_id) as one left join slot on true left join seen on true
   ),
   found as materialized (
     select *, "slotExists" and "userExists" and not "isOthers" and case
         when is_unchanged then user_id is not null and exists (select from seen where seen.user_id is null)
         else refusal is null
       end as "mayWrite"
     from asked
   ),
   ${holdAnew(bookingKind, {
     changing: { units: '$units', user_id: 'coalesce(seen.user_id, found.user_id)' },
     fixed: { slot_id: '$slotId' },
     isConfirmed: 'is_booked',
   })},
   ${requestRefreshOf('select slot.*, more from slot, found, written')}
   select "slotExists", "userExists", "isOthers", refusal, "mayWrite",
     ${leftOf('case when refusal is null then more else 0 end')} as remaining, ${anyStoreRequestIdColumn}, ${holdColumns(bookingKind)}
   from found left join slot on true left join kept as slot_bookings on true`,
);
