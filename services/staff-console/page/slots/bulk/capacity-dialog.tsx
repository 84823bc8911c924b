import { useState } from 'react';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { words } from '../../words.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { useUpdateSlots } from '../record/update-slots.ts';

const text = words.slots;
const mostUnits = 1_000_000;

interface CapacityDialogProps {
  readonly slots: readonly PlannedSlot[];
  onClose(): void;
}

/** Gives several slots one capacity, which can be undone: each gets back its own. */
export function CapacityDialog({ slots, onClose }: CapacityDialogProps) {
  const capacities = new Set(slots.map(({ capacity }) => capacity));
  const [units, setUnits] = useState(capacities.size === 1 ? String(slots[0]?.capacity ?? '') : '');
  const { write, send } = useUpdateSlots(text.capacityDone, text.capacityUndone);
  const capacity = Number(units);
  const over = capacity === 0 ? [] : slots.filter(({ booked = 0 }) => booked > capacity);
  const save = async () => {
    const { answer } = await send(slots, { case: 'capacity', value: capacity }, (slot) => ({
      case: 'capacity',
      value: slot.capacity ?? 0,
    }));
    if (answer !== undefined) onClose();
  };
  return (
    <Dialog title={text.capacityTitle(slotsInWords(slots.length))} isOpen onClose={onClose}>
      <EditForm
        write={write}
        concerns={over.length === 0 ? [] : [text.overbooked(over.length, slotsInWords(over.length))]}
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
