import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { useId, useState } from 'react';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { formatTime } from '../../business/time.tsx';
import { dateInput, moveMoment, readTimeInput, timeInput } from '../../business/time-input.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { Switch } from '../../forms/switch.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import type { Column } from '../../lists/column.tsx';
import { ListTable } from '../../lists/list-table.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { words } from '../../words.ts';
import { useTaken } from '../record/draft.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { FlagButton, useUpdateSlots } from '../record/update-slots.tsx';
import { CopyDialog } from './copy-dialog.tsx';
import { daysBetween, deliveryMs, type Move, moveConcerns, movesBy, plansAfter, type Shift } from './move.ts';

const text = words.slots;
const mostUnits = 1_000_000;
const isUnits = (typed: string) => /^\s*\d+\s*$/.test(typed) && Number(typed) > 0 && Number(typed) <= mostUnits;

interface SlotActionsProps {
  readonly slots: readonly PlannedSlot[];
  readonly now: number;
  onMove(): void;
}

/** What can be done with the slots that are selected. */
export function SlotActions({ slots, now, onMove }: SlotActionsProps) {
  const [isCapacity, setIsCapacity] = useState(false);
  return (
    <>
      <FlagButton {...{ slots, ...text.full }} flag="isCapacityFull" value />
      <FlagButton {...{ slots, ...text.open }} flag="isCapacityFull" value={false} />
      <Button onPress={() => setIsCapacity(true)}>{text.capacityOf}</Button>
      <PlanButtons {...{ slots, now, onMove }} />
      <FlagButton {...{ slots, ...text.off }} flag="isActive" value={false} />
      <FlagButton {...{ slots, ...text.on }} flag="isActive" value />
      {isCapacity && <CapacityDialog slots={slots} onClose={() => setIsCapacity(false)} />}
    </>
  );
}

/** Moves slots to another time, or copies them. */
export function PlanButtons({ slots, now, onMove }: SlotActionsProps) {
  const [isCopy, setIsCopy] = useState(false);
  const start = slots[0]?.deliveryTime;
  return (
    <>
      <Button onPress={onMove}>{text.moveTo}</Button>
      <Button onPress={() => setIsCopy(true)}>{text.copyTo}</Button>
      {isCopy && start !== undefined && (
        <CopyDialog
          now={now}
          what={slotsInWords(slots.length)}
          source={{ slotIds: slots.map(({ id }) => id) }}
          day={dateInput(timestampDate(start))}
          onClose={() => setIsCopy(false)}
        />
      )}
    </>
  );
}

/**
 * Gives several slots one capacity, or none, which can be undone: each gets back its own. What is not touched changes
 * nothing. Where they differ, the empty field shows the capacities that they have.
 */
function CapacityDialog({ slots, onClose }: { readonly slots: readonly PlannedSlot[]; onClose(): void }) {
  const capacities = [...new Set(slots.map(({ capacity = 0 }) => capacity))];
  const [start = 0, ...others] = capacities;
  const before = {
    units: others.length > 0 || start === 0 ? '' : String(start),
    isUnlimited: capacities.join() === '0',
  };
  const [units, setUnits] = useState(before.units);
  const [isUnlimited, setIsUnlimited] = useState(before.isUnlimited);
  const { write, send } = useUpdateSlots(text.capacityDone, text.capacityUndone);
  const value = isUnlimited ? 0 : Number(units);
  const isChanged = isUnlimited !== before.isUnlimited || (!isUnlimited && units !== before.units);
  const over = slots.filter(({ booked = 0 }) => value > 0 && booked > value).length;
  const freed = slots.filter(({ capacity, booked = 0 }) => isUnlimited && capacity !== undefined && booked > 0).length;
  const concerns = [
    ...(over === 0 ? [] : [text.overbooked(over, slotsInWords(over))]),
    ...(freed === 0 ? [] : [text.unlimits(freed, slotsInWords(freed))]),
  ];
  const save = async () => {
    if (!isChanged) return onClose();
    const was = ({ capacity = 0 }: PlannedSlot) => ({ case: 'capacity', value: capacity }) as const;
    const { answer } = await send(slots, { case: 'capacity', value }, was);
    if (answer !== undefined) onClose();
  };
  return (
    <Dialog title={text.capacityTitle(slotsInWords(slots.length))} isOpen onClose={onClose}>
      <EditForm write={write} concerns={concerns} onSend={() => void save()} onCancel={onClose}>
        <TextField
          label={words.fields.capacity}
          hint={text.capacityHint}
          name="capacity"
          inputMode="numeric"
          placeholder={others.length > 0 ? capacities.map((each) => each || words.noLimit).join(', ') : ''}
          value={units}
          onChange={setUnits}
          isDisabled={isUnlimited}
          validate={(typed) => {
            const isUntouched = typed === before.units && !before.isUnlimited;
            return isUnlimited || isUntouched || isUnits(typed) ? null : text.noCapacity;
          }}
          autoFocus
        />
        <Switch isSelected={isUnlimited} onChange={setIsUnlimited}>
          {words.noLimit}
        </Switch>
      </EditForm>
    </Dialog>
  );
}

const moveColumns: readonly Column<Move>[] = [
  { title: words.from, text: ({ before }) => formatTime(before.deliveryTime), className: 'time' },
  { title: text.to, text: ({ after }) => `→ ${formatTime(after.deliveryTime)}`, className: 'time' },
  { title: words.fields.freezeTime, text: ({ after }) => formatTime(after.freezeTime), className: 'time' },
];

interface MoveDialogProps {
  readonly slots: readonly PlannedSlot[];
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
          <ListTable labelledBy={id} columns={moveColumns} rows={moves} keyOf={({ before }) => before.id} />
        )}
      </EditForm>
    </Dialog>
  );
}

/** Returns the shift from a time to that of a field; undefined while that is none. */
function shiftBetween(from: Timestamp, to: string): Shift | undefined {
  const at = readTimeInput(to);
  if (at === undefined) return undefined;
  const days = daysBetween(timeInput(timestampDate(from)), to);
  // The wall clock's days first: what is left are minutes that pass.
  return { days, minutes: Math.round((at.getTime() - Date.parse(moveMoment(from, { days, minutes: 0 }))) / 60_000) };
}
