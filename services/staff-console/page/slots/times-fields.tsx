import type { ReactNode } from 'react';
import { TextField } from '../forms/text-field.tsx';
import { GroupPicker } from '../lookup/group-picker.tsx';
import { timeZone } from '../ui/time.tsx';
import type { SlotDraft } from './record/slot-draft.ts';

interface TimesFieldsProps {
  readonly draft: SlotDraft;
  onChange(draft: SlotDraft): void;
}

/** The form fields of a slot's times and groups. */
export function TimesFields({ draft, onChange }: TimesFieldsProps): ReactNode {
  const isLate = draft.freezeTime !== '' && draft.deliveryTime !== '' && draft.freezeTime > draft.deliveryTime;
  return (
    <>
      <div className="row">
        <TextField
          label="Delivery time"
          name="deliveryTime"
          type="datetime-local"
          isRequired
          hint={`In ${timeZone}`}
          value={draft.deliveryTime}
          onChange={(deliveryTime) => onChange({ ...draft, deliveryTime })}
        />
        <TextField
          label="Orders close"
          name="freezeTime"
          type="datetime-local"
          isRequired
          hint={isLate ? 'This is after the delivery.' : 'Until then the slot takes orders.'}
          value={draft.freezeTime}
          onChange={(freezeTime) => onChange({ ...draft, freezeTime })}
        />
      </div>
      <GroupPicker chosen={draft.groupIds} onChange={(groupIds) => onChange({ ...draft, groupIds })} />
    </>
  );
}
