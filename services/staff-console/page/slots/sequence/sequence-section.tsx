import { fromJson, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { type GetDeliverySequenceResponse, SlotService } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { LastChange } from '../../audit/history.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { FormEnd } from '../../forms/form-end.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { describeFailure } from '../../rpc/failure.ts';
import { useGuardedEdit } from '../../rpc/guarded-edit.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Loading, Problem, Section } from '../../ui/page.tsx';
import type { SlotSectionProps } from '../record/section.ts';
import { isJson, readSequence, writeSequence } from './sequence.ts';
import { SequenceEditor } from './sequence-editor.tsx';

/** Shows in which order each user's orders are delivered. */
export function SequenceSection({ slot, edit }: Omit<SlotSectionProps, 'read'>): ReactNode {
  const { data, error, refetch } = useQuery(SlotService.method.getDeliverySequence, { id: String(slot.id) });
  return (
    <Section
      isEditing={edit.isOpen}
      title="Delivery sequence"
      actions={
        !edit.isOpen &&
        data !== undefined && (
          <Button onPress={edit.open} isDisabled={edit.isBlocked}>
            Change the sequence
          </Button>
        )
      }
    >
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the delivery sequence" />}
      {data !== undefined && edit.isOpen && (
        <SequenceForm slotId={slot.id} stored={data} onClose={edit.close} read={async () => (await refetch()).data} />
      )}
      {data !== undefined && !edit.isOpen && <StoredSequence text={textOf(data)} />}
    </Section>
  );
}

function StoredSequence({ text }: { readonly text: string }): ReactNode {
  const users = Object.entries(readSequence(text) ?? {});
  if (users.length === 0)
    return text === '{}' ? <Empty>No sequence yet.</Empty> : <pre className="scroll-x">{text}</pre>;
  return (
    <ul>
      {users.map(([user, stops]) => (
        <li key={user}>
          User {user}: {stops.join(' → ') || 'nothing'}
        </li>
      ))}
    </ul>
  );
}

interface SequenceFormProps {
  readonly slotId: number;
  readonly stored: GetDeliverySequenceResponse;
  readonly read: () => Promise<GetDeliverySequenceResponse | undefined>;
  onClose(): void;
}

/** Shows the users' lists, and beside them the same sequence as JSON. A change to one changes the other. */
function SequenceForm({ slotId, stored, read, onClose }: SequenceFormProps): ReactNode {
  const [text, setText] = useState(() => textOf(stored));
  const write = useWrite(SlotService.method.updateDeliverySequence, ({ message }) => ({ text: message }));
  const { base, save, theirs, rebase } = useGuardedEdit(write, stored, read);
  const sequence = readSequence(text);
  const send = async () => {
    if (!isJson(text)) return;
    const { answer } = await save(({ etag }) => ({
      id: slotId,
      deliverySequence: fromJson(ValueSchema, JSON.parse(text)),
      etag,
    }));
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
      <div className="row">
        {sequence === undefined ? (
          <Empty>What stands in the JSON is no list of numbers for each user: it can be changed there.</Empty>
        ) : (
          <SequenceEditor sequence={sequence} onChange={(changed) => setText(writeSequence(changed))} />
        )}
        <TextField
          label="As JSON"
          name="deliverySequence"
          lines={12}
          value={text}
          onChange={setText}
          validate={() => (isJson(text) ? true : 'This is no JSON.')}
          validationBehavior="aria"
        />
      </div>
      <FormEnd write={write} isDirty={text !== textOf(base)} onCancel={onClose} />
      {theirs !== undefined && (
        <Conflict
          record={`slot ${slotId}`}
          by={<LastChange type="slot" id={slotId} />}
          rows={[{ name: 'Delivery sequence', mine: text, theirs: textOf(theirs) }]}
          isPending={write.isPending}
          onKeepMine={() => void send()}
          onTakeTheirs={() => {
            setText(textOf(theirs));
            rebase();
          }}
          onClose={rebase}
        />
      )}
    </Form>
  );
}

function textOf({ deliverySequence }: GetDeliverySequenceResponse): string {
  if (deliverySequence === undefined) return '{}';
  const value = toJson(ValueSchema, deliverySequence);
  const text = JSON.stringify(value, null, 2);
  const sequence = readSequence(text);
  return sequence === undefined ? text : writeSequence(sequence);
}
