import { type Actor, actorOf, auditEntry } from '../../../shared/audit/entry.ts';
import { conditionalWrite, isAsSeen } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import { BookingRefusal, type SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { changeOfHold, creationOfHold, holdColumns, isLive } from '../../../shared/holds/hold.ts';
import { type NamedUser, namedUser, readUserIfGiven } from '../../../shared/holds/named-user.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BookingRow, bookingKind, refused, toBooking } from '../bookings/booking.ts';
import { leftOf, refusalOf, requestRefreshOf, slotOf } from '../bookings/room.ts';
import { slotErrors } from '../errors.ts';
import type { BookingParts } from '../parts.ts';
import { lockUnits } from '../slots/capacity.ts';
import { afterBooking } from '../stores/after-slot-write.ts';
import { anyStoreRequestIdColumn } from '../stores/requests.ts';

const defaultHoldSeconds = 900;

/**
 * Design 15, book: holds or books units of a slot for an order. One statement judges the slot, counts what is taken of
 * it and writes. A refusal is no error.
 *
 * Throws NOT_FOUND for an unknown slot or user, and ALREADY_EXISTS for an order that has a booking for another user.
 */
export function book(parts: BookingParts): Handler<typeof SlotBookingService.method.book> {
  const { database, outcomes } = parts;
  return async (request, call) => {
    const { slotId, orderKey, holdSeconds = defaultHoldSeconds } = request;
    const user = readUserIfGiven(request);
    const isForUser = Object.values(user).some((named) => named !== undefined);
    const order = { slotId, orderKey, units: request.units || 1, holdSeconds, ...user, isForUser };
    const upsert = upsertBooking({ ...actorOf(call), ...order });
    const lock = lockUnits({ slotIds: [slotId] });
    const found = await conditionalWrite(() => database.for(call).pipeline([lock], upsert));
    if (!found.slotExists) throw fail(slotErrors.slotNotFound);
    if (!found.userExists) throw fail(slotErrors.userNotFound);
    if (found.isOthers) throw fail(slotErrors.orderKeyTaken);
    const booking = found.id === null ? undefined : toBooking(found);
    const remaining = found.remaining ?? undefined;
    if (found.refusal !== null) {
      call.isRefused = true;
      outcomes.count(BookingRefusal[found.refusal] ?? '');
      return { booked: false, ...refused(found.refusal), booking, remaining };
    }
    if (found.mayWrite) await afterBooking(parts, call, found.state, found.storeRequestId);
    return { booked: true, booking, remaining };
  };
}

interface WantedBooking extends Actor, NamedUser {
  slotId: number;
  orderKey: string;
  units: number;
  holdSeconds: number;
  isForUser: boolean;
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

const wantedColumns = 'units, user_id, state, held_until, booked_at';

// A booking that is booked with as many units is not judged. It may only be given a user.
const upsertBooking = statement<Found, WantedBooking>(
  'book',
  `with ${slotOf('$slotId::integer')},
   seen as materialized (
     select *, xmin from slot_bookings
     where order_key = $orderKey::text and slot_id = $slotId and ${isLive(bookingKind)}
   ),
   found as materialized (
     select slot.id is not null as "slotExists", not $isForUser::boolean or one.user_id is not null as "userExists",
       coalesce(seen.user_id <> one.user_id, false) as "isOthers", one.user_id as given_user_id,
       coalesce(seen.state = 'BOOKED', false) as is_booked, coalesce(seen.units = $units::integer and seen.state = 'BOOKED', false) as is_settled,
       $units - coalesce(seen.units, 0) as more, ${refusalOf('$units - coalesce(seen.units, 0)')} as refusal
     from (select ${namedUser} as user_id) as one left join slot on true left join seen on true
   ),
   decided as materialized (
     select *, case when not is_settled then refusal end as refused_by,
       "slotExists" and "userExists" and not "isOthers" and case
         when is_settled then given_user_id is not null and exists (select from seen where user_id is null)
         else refusal is null
       end as "mayWrite"
     from found
   ),
   wanted (${wantedColumns}) as materialized (
     select $units, coalesce(seen.user_id, given_user_id), case when is_booked or $holdSeconds::integer = 0 then 'BOOKED' else 'HELD' end,
       case when not is_booked and $holdSeconds > 0 then statement_timestamp() + $holdSeconds * interval '1 second' end,
       case when is_booked then seen.booked_at when $holdSeconds = 0 then statement_timestamp() end
     from decided left join seen on true where "mayWrite"
   ),
   renewed as (
     update slot_bookings set (${wantedColumns}) = (select ${wantedColumns} from wanted)
     from seen where exists (select from wanted) and ${isAsSeen('slot_bookings')}
     returning slot_bookings.*, slot_bookings.xmin
   ),
   created as (
     insert into slot_bookings (slot_id, order_key, created_at, ${wantedColumns})
     select $slotId, $orderKey, statement_timestamp(), ${wantedColumns}
     from wanted where ${ifNewKey('not exists (select from seen)')}
     returning slot_bookings.*, slot_bookings.xmin
   ),
   ${auditEntry(
     'booking',
     `${creationOfHold(bookingKind)}
      union all ${changeOfHold(bookingKind, 'renewed')}`,
   )},
   written as (select * from renewed union all select * from created),
   kept as (
     select * from written
     union all select seen.* from seen, decided where not "mayWrite"
   ),
   ${requestRefreshOf('select slot.*, more from slot, decided, written')}
   select "slotExists", "userExists", "isOthers", refused_by as refusal, "mayWrite",
     ${leftOf('case when refused_by is null then more else 0 end')} as remaining, ${anyStoreRequestIdColumn}, ${holdColumns(bookingKind)}
   from decided left join slot on true left join kept as slot_bookings on true`,
);
