import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useState } from 'react';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { dateInput } from '../../business/time-input.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { words } from '../../words.ts';
import { FlagButton } from '../record/flag-button.tsx';
import { slotsInWords } from '../record/slot-state.tsx';
import { useUpdateSlots } from '../record/update-slots.ts';
import { CopyDialog } from './copy-dialog.tsx';

const text = words.slots;
const mostUnits = 1_000_000;

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

/** Gives several slots one capacity, which can be undone: each gets back its own. */
function CapacityDialog({ slots, onClose }: { readonly slots: readonly PlannedSlot[]; onClose(): void }) {
  const capacities = new Set(slots.map(({ capacity }) => capacity));
  const [units, setUnits] = useState(capacities.size === 1 ? String(slots[0]?.capacity ?? '') : '');
  const { write, send } = useUpdateSlots(text.capacityDone, text.capacityUndone);
  const value = Number(units);
  const over = slots.filter(({ booked = 0 }) => value > 0 && booked > value).length;
  const save = async () => {
    const was = ({ capacity = 0 }: PlannedSlot) => ({ case: 'capacity', value: capacity }) as const;
    const { answer } = await send(slots, { case: 'capacity', value }, was);
    if (answer !== undefined) onClose();
  };
  return (
    <Dialog title={text.capacityTitle(slotsInWords(slots.length))} isOpen onClose={onClose}>
      <EditForm
        write={write}
        concerns={over === 0 ? [] : [text.overbooked(over, slotsInWords(over))]}
        onSend={() => void save()}
        onCancel={onClose}
      >
        <TextField
          label={text.capacity}
          hint={text.capacityHint}
          name="capacity"
          inputMode="numeric"
          value={units}
          onChange={setUnits}
          validate={(typed) => (/^\s*\d*\s*$/.test(typed) && Number(typed) <= mostUnits ? null : text.noCapacity)}
          autoFocus
        />
      </EditForm>
    </Dialog>
  );
}
