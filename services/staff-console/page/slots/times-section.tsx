import type { ReactNode } from 'react';
import { type SlotDetail, SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { LastChange } from '../audit/history.tsx';
import { formatDate, Time, useNow } from '../business/time.tsx';
import { readTimeInput } from '../business/time-input.ts';
import { Conflict } from '../forms/conflict.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { groupNames, useGroups } from '../lookup/names.ts';
import { useGuardedEdit } from '../rpc/guarded-edit.ts';
import { isSame } from '../rpc/merge.ts';
import { useWrite } from '../rpc/write.ts';
import { Facts } from '../ui/page.tsx';
import { EditSection, type SlotSectionProps } from './record/edit-section.tsx';
import { concernsOf, draftOf, inputOf, type SlotDraft, unchanged } from './record/slot-draft.ts';
import { plansOf, useTaken } from './record/use-taken.ts';
import { TimesFields } from './times-fields.tsx';

/** Shows when a slot is delivered, until when it takes orders, and its groups. */
export function TimesSection({ slot, edit, read }: SlotSectionProps): ReactNode {
  const groups = useGroups();
  return (
    <EditSection title="Times and groups" edit={edit} action="Edit times and groups">
      {edit.isOpen ? (
        <TimesForm slot={slot} edit={edit} read={read} />
      ) : (
        <Facts
          rows={[
            ['Delivery time', <Time key="delivery" at={slot.deliveryTime} />],
            ['Orders close', <Time key="freeze" at={slot.freezeTime} />],
            ['Groups', groupNames(groups, slot.groupIds) || 'None'],
          ]}
        />
      )}
    </EditSection>
  );
}

function TimesForm({ slot, edit, read }: SlotSectionProps): ReactNode {
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
  const describe = (field: keyof SlotDraft, { deliveryTime, freezeTime, groups: chosen }: SlotDraft) => {
    if (field === 'deliveryTime') return ['Delivery time', inWords(deliveryTime)] as const;
    if (field === 'freezeTime') return ['Orders close', inWords(freezeTime)] as const;
    return [
      'Groups',
      groupNames(
        groups,
        chosen.map(({ id }) => id),
      ),
    ] as const;
  };
  return (
    <EditForm
      write={write}
      isDirty={isDirty}
      concerns={[...concernsOf(draft, now, start), ...taken]}
      isChecking={isChecking}
      onSend={save}
      onCancel={edit.close}
    >
      <TimesFields draft={draft} onChange={setDraft} />
      {contradiction !== undefined && (
        <Conflict
          record={`slot ${slot.id}`}
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
