import { type Timestamp, timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { useId, useState } from 'react';
import { formatTime } from '../../business/time.tsx';
import { moveMoment, readTimeInput, timeInput } from '../../business/time-input.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import type { Column } from '../../lists/column.ts';
import { ListTable } from '../../lists/list-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { words } from '../../words.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { useTaken } from '../record/use-taken.ts';
import { daysBetween, type Move, type Moved, moveConcerns, movesBy, plansAfter, type Shift } from './move.ts';

const text = words.slots;

const columns: readonly Column<Move>[] = [
  { title: text.from, text: ({ before }) => formatTime(before.deliveryTime), className: 'time' },
  { title: text.to, text: ({ after }) => `→ ${formatTime(after.deliveryTime)}`, className: 'time' },
  { title: text.ordersClose, text: ({ after }) => formatTime(after.freezeTime), className: 'time' },
];

interface MoveDialogProps {
  readonly slots: readonly Moved[];
  /** What was asked for already, but looks like a mistake. */
  readonly start: Shift;
  readonly now: number;
  onMove(by: Shift): void;
  onClose(): void;
}

/** Asks where slots are moved to: the first of them to a day and time, and the others as far. Shows where they will be. */
export function MoveDialog({ slots, start, now, onMove, onClose }: MoveDialogProps) {
  const inOrder = slots.toSorted((a, b) => deliveryMs(a) - deliveryMs(b));
  const from = inOrder[0]?.deliveryTime;
  const [to, setTo] = useState(from === undefined ? '' : timeInput(new Date(moveMoment(from, start))));
  const by = from && shiftBetween(from, to);
  const moves = by === undefined ? [] : movesBy(inOrder, by);
  const { taken, isChecking } = useTaken(plansAfter(moves));
  const id = useId();
  return (
    <Dialog title={text.moveTitle(slotsInWords(slots.length))} isOpen onClose={onClose}>
      <EditForm
        action={text.move}
        write={{ isPending: false, failure: undefined }}
        concerns={[...moveConcerns(moves, now), ...taken]}
        isChecking={isChecking}
        onSend={() => by !== undefined && onMove(by)}
        onCancel={onClose}
      >
        <TimeField label={slots.length === 1 ? text.newStart : text.newFirst} isRequired value={to} onChange={setTo} />
        <p id={id} className="detail">
          {text.movesAlong}
        </p>
        {moves.length > 0 && (
          <ListTable labelledBy={id} columns={columns} rows={moves} keyOf={({ before }) => before.id} />
        )}
      </EditForm>
    </Dialog>
  );
}

const deliveryMs = ({ deliveryTime }: Moved) => (deliveryTime === undefined ? 0 : timestampMs(deliveryTime));

/** Returns the shift from a time to that of a field; undefined while that is none. */
function shiftBetween(from: Timestamp, to: string): Shift | undefined {
  const at = readTimeInput(to);
  if (at === undefined) return undefined;
  const days = daysBetween(timeInput(timestampDate(from)), to);
  // The wall clock's days first: what is left are minutes that pass.
  return { days, minutes: Math.round((at.getTime() - Date.parse(moveMoment(from, { days, minutes: 0 }))) / 60_000) };
}
