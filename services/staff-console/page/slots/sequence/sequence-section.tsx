import { fromJson, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { SlotBookingState } from '#gen/slot/v1/slot_booking_service_pb';
import { type GetDeliverySequenceResponse, SlotService } from '#gen/slot/v1/slot_service_pb';
import { LastChange } from '../../audit/history.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { type Orders, useOrders } from '../../lookup/orders.ts';
import { UserPicker } from '../../lookup/pickers.tsx';
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
import { describeStop, StoredSequence, useSequenceNames } from '../../sequence/stored-sequence.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { readId, readIds } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { useLiveBookings } from '../bookings/live-bookings.ts';
import { EditSection } from '../record/edit-section.tsx';
import { StopList } from './stop-list.tsx';

const text = words.slot.sequence;

/** Shows the stops of a slot in their order. */
export function SequenceSection({ slotId, onClose }: { readonly slotId: number; onClose(): void }) {
  const query = useQuery(SlotService.method.getDeliverySequence, { id: String(slotId) });
  const read = async () => (await query.refetch()).data;
  const form = query.data && (
    <Read query={query} what={text.what}>
      {(stored) => <SequenceForm {...{ slotId, stored, read, onClose }} />}
    </Read>
  );
  return (
    <EditSection title={text.title} label={text.edit} form={form}>
      <Read query={query} what={text.what}>
        {(stored) => {
          const sequence = sequenceOf(draftOf(stored));
          if (sequence === undefined) return <pre className="scroll-x">{toText(draftOf(stored))}</pre>;
          return <StoredSequence sequence={sequence} />;
        }}
      </Read>
    </EditSection>
  );
}

interface SequenceFormProps {
  readonly slotId: number;
  readonly stored: GetDeliverySequenceResponse;
  readonly read: () => Promise<GetDeliverySequenceResponse | undefined>;
  onClose(): void;
}

/** Edits the stops of a slot, which are each user's orders, and lets staff add users, and what is booked. */
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
  // What stands in the fields for further orders, by user. It is saved, too.
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [typedJson, setTypedJson] = useState('');
  const sequence = sequenceOf(draft);
  const users = Object.entries(sequence ?? {});
  const complete = Object.fromEntries(users.map(([user, stops]) => [user, [...stops, ...readIds(typed[user] ?? '')]]));
  const { nameOf, orders, isReading } = useSequenceNames(complete);
  const booked = useBookedOrders(
    slotId,
    users.flatMap(([, stops]) => stops),
  );
  const addBooked = () => {
    const next = new Map(users);
    for (const { user, order } of booked.orders) next.set(user, [...(next.get(user) ?? []), order]);
    setDraft(Object.fromEntries(next));
  };
  const describe = (field: string, { [field]: value = '' }: SequenceDraft) =>
    [
      field === 'json' ? text.asJson : nameOf(Number(field)),
      typeof value === 'string' ? value : value.map((stop) => describeStop(stop, orders)).join(' → '),
    ] as const;
  return (
    <EditForm
      write={write}
      isDirty={isDirty || Object.values(typed).some((text) => text.trim() !== '')}
      concerns={concernsOf(complete, sequenceOf(draftOf(stored)) ?? {}, orders, nameOf)}
      isChecking={isReading}
      onSend={() => jsonProblem(toText(draft)) === undefined && save(sequence ? complete : draft)}
      onCancel={onClose}
    >
      {sequence === undefined ? (
        <Empty>{text.onlyJson}</Empty>
      ) : (
        <>
          {booked.orders.length > 0 && (
            <Button onPress={addBooked} isPending={booked.isReading}>
              {text.addBooked(booked.orders.length)}
            </Button>
          )}
          {/* Above the lists, which grow by a choice: what it offers stays where it is. */}
          <details open={users.length === 0}>
            <summary>{text.addUsers}</summary>
            <UserPicker
              chosen={users.map(([id]) => ({ id: Number(id), name: nameOf(Number(id)) }))}
              onChange={(options) => setDraft(Object.fromEntries(options.map(({ id }) => [id, sequence[id] ?? []])))}
            />
          </details>
          <p className="hint">{text.hint}</p>
          {users.map(([user]) => (
            <StopList
              key={user}
              user={user}
              name={nameOf(Number(user))}
              sequence={sequence}
              orders={orders}
              onChange={setDraft}
              typed={typed[user] ?? ''}
              onTyped={(changed) => setTyped({ ...typed, [user]: changed })}
            />
          ))}
        </>
      )}
      <details open={sequence === undefined}>
        <summary>{text.advanced}</summary>
        <TextField
          label={text.asJson}
          name="deliverySequence"
          lines={12}
          // It stays as it was typed until something else changes the draft.
          value={isSame(toDraft(typedJson), draft) ? typedJson : toText(draft)}
          onChange={(json) => {
            setTypedJson(json);
            setDraft(toDraft(json));
          }}
          validate={jsonProblem}
          validationBehavior="aria"
        />
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

/** Returns the booked orders that are no stops yet, first booked first. Only orders with a number can be stops. */
function useBookedOrders(slotId: number, stops: readonly number[]) {
  const { bookings } = useLiveBookings(slotId);
  const known = new Set(stops);
  const all = bookings
    .filter(({ state }) => state === SlotBookingState.BOOKED)
    .map(({ orderKey, userId }) => ({ order: readId(orderKey) ?? 0, userId }))
    .filter(({ order }) => order > 0)
    .toReversed();
  // Whose it is was not said when it was booked.
  const { orders, isReading } = useOrders(all.flatMap(({ order, userId }) => (userId ? [] : order)));
  const booked = all.flatMap(({ order, userId }) => {
    const user = userId ?? orders.get(order)?.user?.id;
    return user === undefined || known.has(order) ? [] : [{ order, user: String(user) }];
  });
  return { orders: booked, isReading };
}

function draftOf({ deliverySequence }: GetDeliverySequenceResponse): SequenceDraft {
  return toDraft(JSON.stringify(deliverySequence ? toJson(ValueSchema, deliverySequence) : {}, null, 2));
}

/** Returns what looks like a mistake in a sequence. What stood in `was` is not questioned. */
function concernsOf(sequence: Sequence, was: Sequence, orders: Orders, nameOf: (userId: number) => string): string[] {
  const concerns = new Set<string>();
  const unknown = new Set<number>();
  const [counts, countsBefore] = [countsOf(sequence), countsOf(was)];
  for (const [user, stops] of Object.entries(sequence)) {
    const before = new Set(was[user]);
    for (const stop of stops) {
      const isNew = !before.has(stop);
      const owner = orders.get(stop)?.user;
      if (isNew && orders.has(stop) && orders.get(stop) === undefined) unknown.add(stop);
      if (isNew && owner !== undefined && owner.id !== Number(user)) {
        concerns.add(text.otherOwner(stop, nameOf(Number(user)), nameOf(owner.id)));
      }
      const count = counts.get(stop) ?? 0;
      if (count > Math.max(1, countsBefore.get(stop) ?? 0)) concerns.add(text.twice(stop, count));
    }
  }
  return [...(unknown.size > 0 ? [text.unknown([...unknown].join(', '))] : []), ...concerns];
}

/** Counts how often each stop occurs. */
function countsOf(sequence: Sequence): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const stop of Object.values(sequence).flat()) counts.set(stop, (counts.get(stop) ?? 0) + 1);
  return counts;
}
