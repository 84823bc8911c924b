import { type SlotDetail, SlotService } from '#gen/slot/v1/slot_service_pb';
import { LastChange } from '../audit/history.tsx';
import { formatDate, Time, useNow } from '../business/time.tsx';
import { readTimeInput } from '../business/time-input.ts';
import { Conflict } from '../forms/conflict.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { groupNames, useGroups } from '../lookup/names.ts';
import { useGuardedEdit } from '../rpc/guarded-edit.ts';
import { isSame } from '../rpc/merge.ts';
import { useWrite } from '../rpc/write.ts';
import { Empty, Facts } from '../ui/page.tsx';
import { words } from '../words.ts';
import type { LiveBookings } from './bookings/live-bookings.ts';
import { CapacityBar } from './record/capacity-bar.tsx';
import { EditSection, type SlotSectionProps } from './record/edit-section.tsx';
import { bookedConcerns, concernsOf, draftOf, inputOf, type SlotDraft, unchanged } from './record/slot-draft.ts';
import { slotTime } from './record/slot-time.ts';
import { plansOf, useTaken } from './record/use-taken.ts';
import { CapacityField, TimesFields } from './times-fields.tsx';

const text = words.slot;

interface BookedSectionProps extends SlotSectionProps {
  /** Who has booked the slot. */
  readonly live: LiveBookings;
}

/** Shows how much of a slot is booked, and lets staff change its capacity in place. */
export function CapacitySection({ slot, edit, read, live }: BookedSectionProps) {
  const { capacity, booked = live.units } = slot;
  return (
    <EditSection title={text.fields.capacity} edit={edit} action={text.edit.short} label={text.edit.capacity}>
      {edit.isOpen && <SlotForm slot={slot} edit={edit} read={read} live={live} isCapacityOnly />}
      {!edit.isOpen && capacity === undefined && <Empty>{text.noCapacity(booked)}</Empty>}
      {!edit.isOpen && capacity !== undefined && (
        <>
          <CapacityBar booked={booked} held={live.held} capacity={capacity} />
          <p>{text.room(booked, capacity, live.held)}</p>
        </>
      )}
    </EditSection>
  );
}

/** Shows when a slot is delivered, until when it takes orders, and its groups. */
export function TimesSection({ slot, edit, read, live }: BookedSectionProps) {
  const groups = useGroups();
  return (
    <EditSection title={text.times} edit={edit} action={text.edit.short} label={text.edit.times}>
      {edit.isOpen ? (
        <SlotForm slot={slot} edit={edit} read={read} live={live} />
      ) : (
        <Facts
          rows={[
            [text.fields.deliveryTime, slotTime(slot)],
            [text.fields.freezeTime, <Time key="freeze" at={slot.freezeTime} />],
            [text.fields.groups, groupNames(groups, slot.groupIds) || text.none],
            [words.slots.number, slot.id],
          ]}
        />
      )}
    </EditSection>
  );
}

function SlotForm(props: BookedSectionProps & { readonly isCapacityOnly?: boolean }) {
  const { slot, edit, read, live, isCapacityOnly = false } = props;
  const groups = useGroups();
  const now = useNow(20_000);
  const write = useWrite(SlotService.method.updateSlot, ({ message }) => ({ text: message }));
  const { draft, setDraft, start, isDirty, save, contradiction } = useGuardedEdit({
    write,
    record: slot,
    read,
    draftOf: (record: SlotDetail) => draftOf(record),
    request: (changed, replaced) => ({ ...unchanged(replaced), ...inputOf(changed, replaced) }),
    onSaved: edit.close,
  });
  const isOtherPlace = draft.deliveryTime !== start.deliveryTime || !isSame(draft.groups, start.groups);
  const { taken, isChecking } = useTaken(slot.isActive && isOtherPlace ? plansOf(draft, slot.id) : []);
  const describe = (field: keyof SlotDraft, { groups: chosen, ...changed }: SlotDraft) => {
    const ids = chosen.map(({ id }) => id);
    const value = field === 'groups' ? groupNames(groups, ids) : changed[field];
    return [text.fields[field], field.endsWith('Time') ? inWords(value) : value] as const;
  };
  return (
    <EditForm
      write={write}
      isDirty={isDirty}
      concerns={[...concernsOf(draft, now, start), ...bookedConcerns(draft, start, live), ...taken]}
      isChecking={isChecking || live.isCounting}
      onSend={save}
      onCancel={edit.close}
    >
      {isCapacityOnly ? (
        <CapacityField autoFocus value={draft.capacity} onChange={(capacity) => setDraft({ ...draft, capacity })} />
      ) : (
        <TimesFields draft={draft} onChange={setDraft} />
      )}
      {contradiction !== undefined && (
        <Conflict
          record={words.slots.slot(slot.id).toLowerCase()}
          by={<LastChange type="slot" id={slot.id} />}
          contradiction={contradiction}
          describe={describe}
        />
      )}
    </EditForm>
  );
}

function inWords(input: string): string {
  const date = readTimeInput(input);
  return date === undefined ? input : formatDate(date);
}
