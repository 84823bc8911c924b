import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Link } from 'react-aria-components/Link';
import type { Redemption } from '../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { SlotBooking } from '../../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { formatTime } from '../business/time.tsx';
import { fileTime } from '../business/time-input.ts';
import type { Column } from '../lists/column.ts';
import { Badge } from '../ui/page.tsx';
import { stateOf } from './state.ts';

type Hold = Redemption | SlotBooking;

/** Returns the column of the users of redemptions or bookings. */
export function userColumn(nameOf: (id: number) => string): Column<Hold> {
  // In a file: names are known for the rows on show only.
  const text = ({ userId }: Hold) => String(userId ?? '');
  const show = ({ userId }: Hold) => userId && <Link href={`/users/${userId}`}>{nameOf(userId)}</Link>;
  return { title: 'User', show, text, file: [{ title: 'User number', text }] };
}

/**
 * Returns the columns of the state of redemptions or bookings, and of its times, at a time in Unix ms.
 *
 * @param done what they are after the hold.
 */
export function stateColumns(done: 'Used' | 'Booked', now: number): readonly Column<Hold>[] {
  const doneAt = (hold: Hold) => (hold.$typeName === 'slot.v1.SlotBooking' ? hold.bookedAt : hold.usedAt);
  return [
    {
      title: 'State',
      show: (hold) => {
        const state = stateOf(hold, now);
        return state && <Badge kind={state.kind}>{state.words}</Badge>;
      },
      text: (hold) => stateOf(hold, now)?.words ?? '',
    },
    {
      title: 'When',
      text: (hold) => {
        const { heldUntil, createdAt } = hold;
        if (heldUntil !== undefined) {
          return `${timestampMs(heldUntil) > now ? 'Held until' : 'Ran out'} ${formatTime(heldUntil)}`;
        }
        return doneAt(hold) === undefined ? `Held ${formatTime(createdAt)}` : `${done} ${formatTime(doneAt(hold))}`;
      },
      file: [
        { title: 'Held', text: ({ createdAt }) => fileTime(createdAt), isTime: true },
        { title: 'Held until', text: ({ heldUntil }) => fileTime(heldUntil), isTime: true },
        { title: done, text: (hold) => fileTime(doneAt(hold)), isTime: true },
        { title: 'Released', text: ({ releasedAt }) => fileTime(releasedAt), isTime: true },
      ],
    },
  ];
}
