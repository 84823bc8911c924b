import { timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { useId, useState } from 'react';
import { formatDate } from '../../business/time.tsx';
import { moveMoment, readTimeInput, timeInput } from '../../business/time-input.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import type { Column } from '../../lists/column.ts';
import { ListTable } from '../../lists/list-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { words } from '../../words.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { useTaken } from '../record/use-taken.ts';
import { type Moved, moveConcerns, plansAfter, type Shift } from './move.ts';

const text = words.slots;

interface MoveDialogProps {
  readonly slots: readonly Moved[];
  /** What was asked for already, but looks like a mistake. */
  readonly start: Shift;
  /** In Unix ms. */
  readonly now: number;
  onMove(by: Shift): void;
  onClose(): void;
}

/** Asks where slots are moved to: the first of them to a day and time, and the others as far. Shows where they will be. */
export function MoveDialog({ slots, start, now, onMove, onClose }: MoveDialogProps) {
  const inOrder = slots.toSorted((a, b) => deliveryOf(a, none) - deliveryOf(b, none));
  const [first] = inOrder;
  const [to, setTo] = useState(first === undefined ? '' : timeInput(new Date(deliveryOf(first, start))));
  const by = first === undefined ? undefined : shiftTo(first, to);
  const isMove = by !== undefined && (by.days !== 0 || by.minutes !== 0);
  const { taken, isChecking } = useTaken(isMove ? plansAfter(slots, by) : []);
  const id = useId();
  const columns: readonly Column<Moved>[] = [
    { title: text.from, text: (slot) => formatDate(new Date(deliveryOf(slot, none))), className: 'time' },
    {
      title: text.to,
      text: (slot) => formatDate(new Date(deliveryOf(slot, by ?? none))),
      show: (slot) => `→ ${formatDate(new Date(deliveryOf(slot, by ?? none)))}`,
      className: 'time',
    },
    {
      title: text.ordersClose,
      text: ({ freezeTime }) =>
        freezeTime === undefined ? '' : formatDate(new Date(moveMoment(freezeTime, by ?? none))),
      className: 'time',
    },
  ];
  return (
    <Dialog title={text.moveTitle(slotsInWords(slots.length))} isOpen onClose={onClose}>
      <EditForm
        action={text.move}
        write={{ isPending: false, failure: undefined }}
        concerns={isMove ? [...moveConcerns(slots, by, now), ...taken] : []}
        isChecking={isChecking}
        onSend={() => by !== undefined && onMove(by)}
        onCancel={onClose}
      >
        <TimeField label={slots.length === 1 ? text.newStart : text.newFirst} isRequired value={to} onChange={setTo} />
        <p id={id} className="detail">
          {text.movesAlong}
        </p>
        {isMove && <ListTable labelledBy={id} columns={columns} rows={inOrder} keyOf={(slot) => slot.id} />}
      </EditForm>
    </Dialog>
  );
}

const none: Shift = { days: 0, minutes: 0 };

/** Returns when a slot is delivered after a move, in Unix ms. */
const deliveryOf = ({ deliveryTime }: Moved, by: Shift) =>
  deliveryTime === undefined ? 0 : Date.parse(moveMoment(deliveryTime, by));

/** Returns the shift that brings a slot to the time of a field; undefined while that is none. */
function shiftTo(slot: Moved, to: string): Shift | undefined {
  const at = readTimeInput(to);
  if (at === undefined || slot.deliveryTime === undefined) return undefined;
  const [day, was] = [to, timeInput(timestampDate(slot.deliveryTime))].map((each) => Date.parse(each.slice(0, 10)));
  const days = Math.round(((day ?? 0) - (was ?? 0)) / 86_400_000);
  // The wall clock's days first: what is left are minutes that pass.
  const minutes = Math.round((at.getTime() - deliveryOf(slot, { days, minutes: 0 })) / 60_000);
  return timestampMs(slot.deliveryTime) === at.getTime() ? none : { days, minutes };
}
