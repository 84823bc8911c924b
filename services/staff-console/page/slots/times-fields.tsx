import { type ReactNode, useEffect, useRef } from 'react';
import { useNow } from '../business/time.tsx';
import { moveTime, readTimeInput } from '../business/time-input.ts';
import { TimeField } from '../forms/time-field.tsx';
import { GroupPicker } from '../lookup/group-picker.tsx';
import type { SlotDraft } from './record/slot-draft.ts';

interface TimesFieldsProps {
  readonly draft: SlotDraft;
  onChange(draft: SlotDraft): void;
}

/** The form fields of a slot's times and groups. The end of orders moves along with the delivery time. */
export function TimesFields({ draft, onChange }: TimesFieldsProps): ReactNode {
  // The last time in the field, which has none for a moment while it is typed into.
  const delivery = useRef(draft.deliveryTime);
  useEffect(() => {
    if (readTimeInput(draft.deliveryTime) !== undefined) delivery.current = draft.deliveryTime;
  }, [draft.deliveryTime]);
  const freeze = readTimeInput(draft.freezeTime)?.getTime();
  const isPast = useNow(20_000) > (freeze ?? Number.POSITIVE_INFINITY);
  const isLate = (freeze ?? 0) > (readTimeInput(draft.deliveryTime)?.getTime() ?? Number.POSITIVE_INFINITY);
  const moveBoth = (deliveryTime: string) => {
    const freezeTime = moveTime(draft.freezeTime, delivery.current, deliveryTime);
    onChange({ ...draft, deliveryTime, freezeTime });
  };
  return (
    <div className="row">
      <TimeField
        label="Delivery time"
        name="deliveryTime"
        isRequired
        hint="“Orders close” moves along."
        value={draft.deliveryTime}
        onChange={moveBoth}
      />
      <TimeField
        label="Orders close"
        name="freezeTime"
        isRequired
        hint={
          isPast
            ? 'This has passed: the slot takes no orders.'
            : isLate
              ? 'This is after the delivery.'
              : 'Until then the slot takes orders.'
        }
        value={draft.freezeTime}
        onChange={(freezeTime) => onChange({ ...draft, freezeTime })}
      />
      <GroupPicker
        chosen={draft.groups.map(({ id }) => id)}
        onChange={(ids) => onChange({ ...draft, groups: ids.map((id) => ({ id })) })}
      />
    </div>
  );
}
