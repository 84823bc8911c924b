import { type ReactNode, useState } from 'react';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { slotsInWords } from '../record/slot-state.tsx';
import type { Shift } from './move.ts';

interface MoveDialogProps {
  readonly count: number;
  onMove(by: Shift): void;
  onClose(): void;
}

/** Asks by how much slots are moved. */
export function MoveDialog({ count, onMove, onClose }: MoveDialogProps): ReactNode {
  const [days, setDays] = useState('0');
  const [hours, setHours] = useState('0');
  return (
    <Dialog title={`Move ${slotsInWords(count)}`} isOpen onClose={onClose}>
      <EditForm
        action="Move"
        write={{ isPending: false, failure: undefined }}
        onSend={() => onMove({ days: Number(days), minutes: Math.round(Number(hours) * 60) })}
        onCancel={onClose}
      >
        <div className="row">
          <TextField
            label="Days later"
            hint="−1 is the day before."
            inputMode="numeric"
            value={days}
            onChange={setDays}
            validate={(text) => (/^-?\d{1,3}$/.test(text.trim()) ? null : 'Enter whole days, such as 7 or -1.')}
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
        <p className="detail">“Orders close” moves along.</p>
      </EditForm>
    </Dialog>
  );
}
