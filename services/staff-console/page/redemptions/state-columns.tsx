import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { formatTime } from '../business/time.tsx';
import { fileTime } from '../business/time-input.ts';
import type { Column } from '../lists/column.ts';
import { Badge } from '../ui/page.tsx';
import type { HoldState } from './state.ts';

/** Returns the column of the states of redemptions or bookings. */
export function stateColumn<Row>(stateOf: (row: Row) => HoldState | undefined): Column<Row> {
  return {
    title: 'State',
    show: (row) => {
      const state = stateOf(row);
      return state && <Badge kind={state.kind}>{state.words}</Badge>;
    },
    text: (row) => stateOf(row)?.words ?? '',
  };
}

interface Held {
  readonly heldUntil?: Timestamp | undefined;
  readonly createdAt?: Timestamp | undefined;
  readonly releasedAt?: Timestamp | undefined;
}

/**
 * Returns the column of when something was held, and until when, or when it was used or booked, at a time in Unix ms.
 *
 * @param done the word for what ends a hold, such as "Used".
 */
export function whenColumn<Row extends Held>(
  done: string,
  doneAt: (row: Row) => Timestamp | undefined,
  now: number,
): Column<Row> {
  return {
    title: 'When',
    text: (row) => {
      const { heldUntil, createdAt } = row;
      if (heldUntil !== undefined) {
        return `${timestampMs(heldUntil) > now ? 'Held until' : 'Ran out'} ${formatTime(heldUntil)}`;
      }
      return doneAt(row) === undefined ? `Held ${formatTime(createdAt)}` : `${done} ${formatTime(doneAt(row))}`;
    },
    file: [
      { title: 'Held', text: ({ createdAt }) => fileTime(createdAt), isTime: true },
      { title: 'Held until', text: ({ heldUntil }) => fileTime(heldUntil), isTime: true },
      { title: done, text: (row) => fileTime(doneAt(row)), isTime: true },
      { title: 'Released', text: ({ releasedAt }) => fileTime(releasedAt), isTime: true },
    ],
  };
}
