import { type ReactNode, useState } from 'react';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { slotsInWords } from '../record/slot-state.tsx';
import { useTaken } from '../record/use-taken.ts';
import { type Moved, moveConcerns, plansAfter, type Shift } from './move.ts';

interface MoveDialogProps {
  readonly slots: readonly Moved[];
  /** What was asked for already, but looks like a mistake. */
  readonly start: Shift;
  /** In Unix ms. */
  readonly now: number;
  onMove(by: Shift): void;
  onClose(): void;
}

/** Asks by how much slots are moved. */
export function MoveDialog({ slots, start, now, onMove, onClose }: MoveDialogProps): ReactNode {
  const [days, setDays] = useState(String(start.days));
  const [hours, setHours] = useState(String(start.minutes / 60));
  const by = { days: numberOf(days), minutes: Math.round(numberOf(hours) * 60) };
  const isMove = !Number.isNaN(by.days + by.minutes) && (by.days !== 0 || by.minutes !== 0);
  const { taken, isChecking } = useTaken(isMove ? plansAfter(slots, by) : []);
  return (
    <Dialog title={`Move ${slotsInWords(slots.length)}`} isOpen onClose={onClose}>
      <EditForm
        action="Move"
        write={{ isPending: false, failure: undefined }}
        concerns={isMove ? [...moveConcerns(slots, by, now), ...taken] : []}
        isChecking={isChecking}
        onSend={() => onMove(by)}
        onCancel={onClose}
      >
        <div className="row">
          <TextField
            label="Days later"
            hint="−1 is the day before."
            inputMode="numeric"
            value={days}
            onChange={setDays}
            validate={(text) => (/^[-−]?\d{1,3}$/.test(text.trim()) ? null : 'Enter whole days, such as 7 or -1.')}
            autoFocus
          />
          <TextField
            label="Hours later"
            hint="0.5 is half an hour, −1 an hour before."
            inputMode="decimal"
            value={hours}
            onChange={setHours}
            validate={(text) =>
              /^-?\d{1,2}(\.\d{1,2})?$/.test(text.trim()) ? null : 'Enter hours, such as 2 or -0.5.'
            }
          />
        </div>
        <p className="detail">“Orders close” moves along. The ends of vendor snippets stay as they are.</p>
      </EditForm>
    </Dialog>
  );
}

const numberOf = (text: string) => Number(text.trim().replace('−', '-').replace(',', '.'));
