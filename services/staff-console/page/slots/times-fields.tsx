import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useRef } from 'react';
import { useNow } from '../business/time.tsx';
import { moveTime, readTimeInput } from '../business/time-input.ts';
import { TextField } from '../forms/text-field.tsx';
import { TimeField } from '../forms/time-field.tsx';
import { GroupPicker } from '../lookup/pickers.tsx';
import { words } from '../words.ts';
import { type SlotDraft, slotLabels } from './record/draft.ts';
import { slotTime } from './record/slot-state.tsx';

const { hints } = words.slot;

interface SlotFieldsProps {
  readonly draft: SlotDraft;
  onChange(draft: SlotDraft): void;
}

/** The form fields of a slot's times, capacity and groups. The end of orders moves along with the delivery time. */
export function TimesFields({ draft, onChange }: SlotFieldsProps) {
  const now = useNow(20_000);
  const [delivery, freeze] = [readTimeInput(draft.deliveryTime), readTimeInput(draft.freezeTime)];
  // The field has no time for a moment while it is typed into.
  const lastDelivery = useRef(draft.deliveryTime);
  const moveBoth = (deliveryTime: string) => {
    if (delivery !== undefined) lastDelivery.current = draft.deliveryTime;
    const freezeTime = moveTime(draft.freezeTime, lastDelivery.current, deliveryTime);
    onChange({ ...draft, deliveryTime, freezeTime });
  };
  const isPast = freeze !== undefined && freeze.getTime() < now;
  const isLate = freeze !== undefined && delivery !== undefined && freeze > delivery;
  const windowMinutes = Number(draft.windowMinutes);
  const window = windowMinutes > 0 && delivery && { deliveryTime: timestampFromDate(delivery), windowMinutes };
  return (
    <>
      <div className="row">
        <TimeField {...fieldOf('deliveryTime', draft, onChange)} isRequired hint={hints.delivery} onChange={moveBoth} />
        <TextField
          {...fieldOf('windowMinutes', draft, onChange)}
          inputMode="numeric"
          hint={window ? slotTime(window, true) : hints.window}
          validate={countProblem(1_440)}
        />
        <TimeField
          {...fieldOf('freezeTime', draft, onChange)}
          isRequired
          hint={isPast ? hints.freezePast : isLate ? hints.freezeLate : hints.freeze}
        />
        <CapacityField draft={draft} onChange={onChange} />
      </div>
      <GroupPicker
        chosen={draft.groups.map(({ id }) => id)}
        onChange={(ids) => onChange({ ...draft, groups: ids.map((id) => ({ id })) })}
      />
    </>
  );
}

/** The form field of a slot's capacity. */
export function CapacityField({ draft, onChange, ...props }: SlotFieldsProps & { readonly autoFocus?: boolean }) {
  return (
    <TextField
      {...props}
      {...fieldOf('capacity', draft, onChange)}
      inputMode="numeric"
      hint={hints.capacity}
      validate={countProblem(1_000_000)}
    />
  );
}

function fieldOf(name: Exclude<keyof SlotDraft, 'groups'>, draft: SlotDraft, onChange: SlotFieldsProps['onChange']) {
  const change = (value: string) => onChange({ ...draft, [name]: value });
  return { name, label: slotLabels[name], value: draft[name], onChange: change };
}

/** Returns what says why a text is no number from 1 to `most`, nor empty. */
const countProblem = (most: number) => (typed: string) => {
  const count = Number(typed.trim() || 1);
  return /^\d*$/.test(typed.trim()) && count > 0 && count <= most ? null : hints.noCount(most.toLocaleString('en'));
};
