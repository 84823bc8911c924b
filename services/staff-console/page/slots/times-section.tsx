import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { type SlotDetail, SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { LastChange } from '../audit/history.tsx';
import { Conflict } from '../forms/conflict.tsx';
import { FormEnd } from '../forms/form-end.tsx';
import { groupNames, useGroups } from '../lookup/catalog.ts';
import { useGuardedEdit } from '../rpc/guarded-edit.ts';
import { useWrite } from '../rpc/write.ts';
import { Button } from '../ui/button.tsx';
import { Facts, Section } from '../ui/page.tsx';
import { formatDate, formatTime, Time } from '../ui/time.tsx';
import type { SlotSectionProps } from './record/section.ts';
import { draftOf, inputOf, type SlotDraft, unchanged } from './record/slot-draft.ts';
import { TimesFields } from './times-fields.tsx';

/** Shows when a slot is delivered, until when it takes orders, and its groups. */
export function TimesSection({ slot, edit, read }: SlotSectionProps): ReactNode {
  const groups = useGroups();
  return (
    <Section
      isEditing={edit.isOpen}
      title="Times and groups"
      actions={
        !edit.isOpen && (
          <Button onPress={edit.open} isDisabled={edit.isBlocked}>
            Edit times and groups
          </Button>
        )
      }
    >
      {edit.isOpen ? (
        <TimesForm slot={slot} onClose={edit.close} read={read} groups={groups} />
      ) : (
        <Facts
          rows={[
            ['Delivery time', <Time key="delivery" at={slot.deliveryTime} />],
            ['Orders close', <Time key="freeze" at={slot.freezeTime} />],
            ['Groups', groupNames(groups, slot.groupIds) || 'None'],
          ]}
        />
      )}
    </Section>
  );
}

interface TimesFormProps {
  readonly slot: SlotDetail;
  readonly read: () => Promise<SlotDetail | undefined>;
  readonly groups: ReadonlyMap<number, string>;
  onClose(): void;
}

function TimesForm({ slot, read, groups, onClose }: TimesFormProps): ReactNode {
  const [draft, setDraft] = useState<SlotDraft>(() => draftOf(slot));
  const write = useWrite(SlotService.method.updateSlot, ({ message }) => ({ text: message }));
  const { base, save, theirs, rebase } = useGuardedEdit(write, slot, read);
  const isDirty = JSON.stringify(draft) !== JSON.stringify(draftOf(base));
  const send = async () => {
    const { answer } = await save((seen) => ({ ...unchanged(seen), ...inputOf(draft, seen) }));
    if (answer !== undefined) onClose();
  };
  return (
    <Form
      validationErrors={write.failure?.fields ?? {}}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <TimesFields draft={draft} onChange={setDraft} />
      <FormEnd write={write} isDirty={isDirty} onCancel={onClose} />
      {theirs !== undefined && (
        <Conflict
          record={`slot ${slot.id}`}
          by={<LastChange type="slot" id={slot.id} />}
          rows={[
            { name: 'Delivery time', mine: inWords(draft.deliveryTime), theirs: formatTime(theirs.deliveryTime) },
            { name: 'Orders close', mine: inWords(draft.freezeTime), theirs: formatTime(theirs.freezeTime) },
            { name: 'Groups', mine: groupNames(groups, draft.groupIds), theirs: groupNames(groups, theirs.groupIds) },
          ]}
          isPending={write.isPending}
          onKeepMine={() => void send()}
          onTakeTheirs={() => {
            setDraft(draftOf(theirs));
            rebase();
          }}
          onClose={rebase}
        />
      )}
    </Form>
  );
}

function inWords(input: string): string {
  const date = new Date(input);
  return Number.isNaN(date.getTime()) ? input : formatDate(date);
}
