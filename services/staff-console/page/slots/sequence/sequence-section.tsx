import { fromJson, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type GetDeliverySequenceResponse, SlotService } from '#gen/slot/v1/slot_service_pb';
import { LastChange } from '../../audit/history.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useGuardedEdit } from '../../rpc/guarded-edit.ts';
import { isSame } from '../../rpc/merge.ts';
import { useWrite } from '../../rpc/write.ts';
import {
  jsonProblem,
  type Sequence,
  type SequenceDraft,
  sequenceOf,
  toDraft,
  toText,
} from '../../sequence/sequence.ts';
import { describeStop } from '../../sequence/stops.tsx';
import { StoredSequence, useSequenceNames } from '../../sequence/stored-sequence.tsx';
import { Empty } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { readIds } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { useLiveBookings } from '../bookings/live-bookings.ts';
import { EditSection, type SlotSectionProps } from '../record/edit-section.tsx';
import { concernsOf } from './concerns.ts';
import { SequenceEditor } from './sequence-editor.tsx';

const text = words.slot.sequence;

/** Shows the stops of a slot in their order. */
export function SequenceSection({ slot, edit }: Omit<SlotSectionProps, 'read'>) {
  const query = useQuery(SlotService.method.getDeliverySequence, { id: String(slot.id) });
  const read = async () => (await query.refetch()).data;
  return (
    <EditSection
      title={text.title}
      edit={edit}
      action={words.slot.edit.short}
      label={text.edit}
      isReady={query.data !== undefined}
    >
      <Read query={query} what={text.what}>
        {(stored) =>
          edit.isOpen ? (
            <SequenceForm slotId={slot.id} stored={stored} onClose={edit.close} read={read} />
          ) : (
            <Stored draft={draftOf(stored)} />
          )
        }
      </Read>
    </EditSection>
  );
}

function Stored({ draft }: { readonly draft: SequenceDraft }) {
  const sequence = sequenceOf(draft);
  if (sequence === undefined) return <pre className="scroll-x">{toText(draft)}</pre>;
  return <StoredSequence sequence={sequence} />;
}

interface SequenceFormProps {
  readonly slotId: number;
  readonly stored: GetDeliverySequenceResponse;
  readonly read: () => Promise<GetDeliverySequenceResponse | undefined>;
  onClose(): void;
}

function SequenceForm({ slotId, stored, read, onClose }: SequenceFormProps) {
  const write = useWrite(SlotService.method.updateDeliverySequence, ({ message }) => ({ text: message }));
  const { draft, setDraft, isDirty, save, contradiction } = useGuardedEdit({
    write,
    record: stored,
    read,
    draftOf,
    request: (changed, { etag }) => ({
      id: slotId,
      deliverySequence: fromJson(ValueSchema, JSON.parse(toText(changed))),
      etag,
    }),
    onSaved: onClose,
  });
  const { bookings } = useLiveBookings(slotId);
  const [typed, setTyped] = useState<Readonly<Record<number, string>>>({});
  const sequence = sequenceOf(draft);
  const complete = sequence && withTyped(sequence, typed);
  const { nameOf, orders, isReading } = useSequenceNames(complete ?? {});
  const describe = (field: string, { [field]: value = '' }: SequenceDraft) =>
    [
      field === 'json' ? text.asJson : nameOf(Number(field)),
      typeof value === 'string' ? value : value.map((stop) => describeStop(stop, orders)).join(' → '),
    ] as const;
  return (
    <EditForm
      write={write}
      isDirty={isDirty || Object.values(typed).some((text) => text.trim() !== '')}
      concerns={concernsOf(complete ?? {}, sequenceOf(draftOf(stored)) ?? {}, orders, nameOf)}
      isChecking={isReading}
      onSend={() => jsonProblem(toText(draft)) === undefined && save(complete ?? draft)}
      onCancel={onClose}
    >
      {sequence === undefined ? (
        <Empty>{text.onlyJson}</Empty>
      ) : (
        <SequenceEditor
          sequence={sequence}
          nameOf={nameOf}
          orders={orders}
          bookings={bookings}
          onChange={setDraft}
          typed={typed}
          onTyped={(user, text) => setTyped({ ...typed, [user]: text })}
        />
      )}
      <details open={sequence === undefined}>
        <summary>{text.advanced}</summary>
        <JsonField draft={draft} onChange={setDraft} />
      </details>
      {contradiction !== undefined && (
        <Conflict
          record={text.record(slotId)}
          by={<LastChange type="slot" id={slotId} />}
          contradiction={contradiction}
          describe={describe}
        />
      )}
    </EditForm>
  );
}

/** Adds the orders that stand in the fields to those of their users. */
function withTyped(sequence: Sequence, typed: Readonly<Record<number, string>>): Sequence {
  const entries = Object.entries(sequence);
  return Object.fromEntries(entries.map(([user, stops]) => [user, [...stops, ...readIds(typed[Number(user)] ?? '')]]));
}

interface JsonFieldProps {
  readonly draft: SequenceDraft;
  onChange(draft: SequenceDraft): void;
}

/** Edits a draft as JSON. The text stays as it was typed until something else changes the draft. */
function JsonField({ draft, onChange }: JsonFieldProps) {
  const [typed, setTyped] = useState('');
  return (
    <TextField
      label={text.asJson}
      name="deliverySequence"
      lines={12}
      value={isSame(toDraft(typed), draft) ? typed : toText(draft)}
      onChange={(text) => {
        setTyped(text);
        onChange(toDraft(text));
      }}
      validate={jsonProblem}
      validationBehavior="aria"
    />
  );
}

function draftOf({ deliverySequence }: GetDeliverySequenceResponse): SequenceDraft {
  if (deliverySequence === undefined) return {};
  return toDraft(JSON.stringify(toJson(ValueSchema, deliverySequence), null, 2));
}
