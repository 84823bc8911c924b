import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import type { Redemption } from '#gen/coupon/v1/redemption_service_pb';
import type { SlotBooking } from '#gen/slot/v1/slot_booking_service_pb';
import { trailAddress } from '../audit/trail/filters.ts';
import { formatTime } from '../business/time.tsx';
import { fileTime } from '../business/time-input.ts';
import type { Column } from '../lists/column.tsx';
import { Badge } from '../ui/page.tsx';
import { words } from '../words.ts';
import { stateOf } from './state.ts';

type Hold = Redemption | SlotBooking;

const text = words.orders;
const { states } = text;
const isBooking = (hold: Hold) => hold.$typeName === 'slot.v1.SlotBooking';
const doneAt = (hold: Hold) => (hold.$typeName === 'slot.v1.SlotBooking' ? hold.bookedAt : hold.usedAt);

/** Returns the column of the customers of redemptions or bookings. */
export function userColumn(nameOf: (id: number) => ReactNode): Column<Hold> {
  // In a file: names are known for the rows on show only.
  const number = ({ userId }: Hold) => String(userId ?? '');
  const show = ({ userId }: Hold) => userId && <Link href={`/users/${userId}`}>{nameOf(userId)}</Link>;
  return { title: words.fields.userId, show, text: number, file: [{ title: words.customers.number, text: number }] };
}

/** Returns the column of the state of redemptions or bookings and since when they have it, at a time in Unix ms. */
export function stateColumn(now: number): Column<Hold> {
  const state = { title: words.fields.state, text: (hold: Hold) => stateOf(hold, now)?.words ?? '' };
  return {
    ...state,
    show: (hold) => (
      <>
        <Badge kind={stateOf(hold, now)?.kind ?? 'plain'}>{state.text(hold)}</Badge>
        <Since hold={hold} now={now} />
      </>
    ),
    file: [
      state,
      { title: states.held, text: ({ createdAt }) => fileTime(createdAt), isTime: true },
      { title: words.fields.heldUntil, text: ({ heldUntil }) => fileTime(heldUntil), isTime: true },
      { title: states.used, text: (hold) => fileTime(doneAt(hold)), isTime: true },
      { title: states.returned, text: ({ releasedAt }) => fileTime(releasedAt), isTime: true },
    ],
  };
}

/** Says since when a redemption or a booking is what it is, as a link to its history. */
function Since({ hold, now }: { readonly hold: Hold; readonly now: number }) {
  const { id, heldUntil, releasedAt, createdAt } = hold;
  const time = formatTime(heldUntil ?? releasedAt ?? doneAt(hold) ?? createdAt);
  return (
    <div className="detail">
      <Link href={trailAddress({ type: isBooking(hold) ? 'booking' : 'redemption', id: String(id) })}>
        {heldUntil !== undefined && timestampMs(heldUntil) > now ? text.until(time) : time}
      </Link>
    </div>
  );
}

/**
 * Lets the rows of a section's list open a dialog. When that is done, the keyboard goes on at the section's heading, because
 * the button that was pressed may be gone.
 *
 * @returns what opens a dialog, and what the section has to show.
 */
export function useRowDialog() {
  const [dialog, setDialog] = useState<(close: () => void, done: () => void) => ReactNode>();
  const [done, setDone] = useState(0);
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (done > 0) place.current?.closest('section')?.querySelector('h2')?.focus();
  }, [done]);
  const close = () => setDialog(undefined);
  const finish = () => {
    close();
    setDone(done + 1);
  };
  const open = (render: NonNullable<typeof dialog>) => setDialog(() => render);
  return { open, shown: <span ref={place}>{dialog?.(close, finish)}</span> };
}
