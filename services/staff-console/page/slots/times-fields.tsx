import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useEffect, useRef } from 'react';
import { useNow } from '../business/time.tsx';
import { moveTime, readTimeInput } from '../business/time-input.ts';
import { TextField } from '../forms/text-field.tsx';
import { TimeField } from '../forms/time-field.tsx';
import { GroupPicker } from '../lookup/group-picker.tsx';
import { words } from '../words.ts';
import { countProblem, type SlotDraft } from './record/slot-draft.ts';
import { slotTime } from './record/slot-time.ts';

const text = words.slot;

interface TimesFieldsProps {
  readonly draft: SlotDraft;
  onChange(draft: SlotDraft): void;
}

/** The form fields of a slot's times, capacity and groups. The end of orders moves along with the delivery time. */
export function TimesFields({ draft, onChange }: TimesFieldsProps) {
  // The last time in the field, which has none for a moment while it is typed into.
  const delivery = useRef(draft.deliveryTime);
  useEffect(() => {
    if (readTimeInput(draft.deliveryTime) !== undefined) delivery.current = draft.deliveryTime;
  }, [draft.deliveryTime]);
  const freeze = readTimeInput(draft.freezeTime)?.getTime();
  const start = readTimeInput(draft.deliveryTime);
  const isPast = useNow(20_000) > (freeze ?? Number.POSITIVE_INFINITY);
  const isLate = (freeze ?? 0) > (start?.getTime() ?? Number.POSITIVE_INFINITY);
  const minutes = Number(draft.windowMinutes);
  const moveBoth = (deliveryTime: string) => {
    const freezeTime = moveTime(draft.freezeTime, delivery.current, deliveryTime);
    onChange({ ...draft, deliveryTime, freezeTime });
  };
  return (
    <>
      <div className="row">
        <TimeField
          label={text.fields.deliveryTime}
          name="deliveryTime"
          isRequired
          hint={text.hints.delivery}
          value={draft.deliveryTime}
          onChange={moveBoth}
        />
        <TextField
          label={text.fields.windowMinutes}
          name="windowMinutes"
          inputMode="numeric"
          hint={
            minutes > 0 && start !== undefined
              ? slotTime({ deliveryTime: timestampFromDate(start), windowMinutes: minutes }, true)
              : text.hints.window
          }
          validate={countProblem(1_440)}
          value={draft.windowMinutes}
          onChange={(windowMinutes) => onChange({ ...draft, windowMinutes })}
        />
        <TimeField
          label={text.fields.freezeTime}
          name="freezeTime"
          isRequired
          hint={isPast ? text.hints.freezePast : isLate ? text.hints.freezeLate : text.hints.freeze}
          value={draft.freezeTime}
          onChange={(freezeTime) => onChange({ ...draft, freezeTime })}
        />
        <CapacityField value={draft.capacity} onChange={(capacity) => onChange({ ...draft, capacity })} />
      </div>
      <GroupPicker
        chosen={draft.groups.map(({ id }) => id)}
        onChange={(ids) => onChange({ ...draft, groups: ids.map((id) => ({ id })) })}
      />
    </>
  );
}

interface CapacityFieldProps {
  /** In units; empty for a slot that is not counted. */
  readonly value: string;
  readonly autoFocus?: boolean;
  onChange(value: string): void;
}

/** The form field of a slot's capacity. */
export function CapacityField(props: CapacityFieldProps) {
  return (
    <TextField
      {...props}
      label={text.fields.capacity}
      name="capacity"
      inputMode="numeric"
      hint={text.hints.capacity}
      validate={countProblem(1_000_000)}
    />
  );
}
