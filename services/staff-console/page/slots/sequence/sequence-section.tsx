import { fromJson, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { type ClipboardEvent, useEffect, useState } from 'react';
import { SlotBookingState } from '#gen/slot/v1/slot_booking_service_pb';
import { type GetDeliverySequenceResponse, SlotService } from '#gen/slot/v1/slot_service_pb';
import { LastChange } from '../../audit/history.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { type Orders, useOrderIds, useOrders } from '../../lookup/names.ts';
import { UserPicker } from '../../lookup/pickers.tsx';
import { isSame } from '../../rpc/merge.ts';
import { useWrite } from '../../rpc/write.ts';
import {
  isSequence,
  jsonProblem,
  type Sequence,
  type SequenceDraft,
  toDraft,
  toText,
} from '../../sequence/sequence.ts';
import { describeStop, nameOfStop, StoredSequence, useSequenceNames } from '../../sequence/stored-sequence.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty, Read } from '../../ui/page.tsx';
import { useDebounced } from '../../ui/pauses.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { useLiveBookings } from '../bookings/live-bookings.ts';
import { EditSection, type SectionProps, useSectionEdit } from '../record/edit-section.tsx';
import { StopList } from './stop-list.tsx';

const text = words.slot.sequence;

/** Shows the stops of a slot in their order. */
export function SequenceSection({ slotId, onClose }: { readonly slotId: number; onClose(): void }) {
  const query = useQuery(SlotService.method.getDeliverySequence, { id: String(slotId) });
  const read = async () => (await query.refetch()).data;
  const form = query.data && (
    <Read query={query} what={text.what}>
      {(stored) => <SequenceForm slotId={slotId} record={stored} read={read} onClose={onClose} />}
    </Read>
  );
  return (
    <EditSection title={words.fields.deliverySequence} label={text.edit} form={form}>
      <Read query={query} what={text.what}>
        {(stored) => {
          const draft = draftOf(stored);
          if (isSequence(draft)) return <StoredSequence sequence={draft} />;
          return <pre>{toText(draft)}</pre>;
        }}
      </Read>
    </EditSection>
  );
}

/** Edits the stops of a slot, which are each user's orders, and lets staff add users, and what is booked. */
function SequenceForm(props: SectionProps<GetDeliverySequenceResponse> & { readonly slotId: number }) {
  const { slotId, record: stored } = props;
  const write = useWrite(SlotService.method.updateDeliverySequence, ({ message }) => ({ text: message }));
  const { draft, setDraft, save, contradiction, form } = useSectionEdit(props, write, draftOf, (changed, { etag }) => ({
    id: slotId,
    deliverySequence: fromJson(ValueSchema, JSON.parse(toText(changed))),
    etag,
  }));
  const [typedJson, setTypedJson] = useState('');
  const sequence = isSequence(draft) ? draft : undefined;
  const was = draftOf(stored);
  const users = Object.entries(sequence ?? {});
  const further = useFurtherOrders();
  const complete = withStops(sequence ?? {}, further.found);
  const { nameOf, orders, isReading } = useSequenceNames(complete);
  const booked = useBookedOrders(slotId, sequence ?? {});
  useEffect(() => {
    if (!further.isEntered) return;
    setDraft(complete);
    further.clear();
  });
  const describe = (field: string, { [field]: value = '' }: SequenceDraft) =>
    [
      field === 'json' ? text.asJson : nameOf(Number(field)),
      typeof value === 'string' ? value : value.map((stop) => describeStop(stop, orders)).join(' → '),
    ] as const;
  const by = <LastChange type="slot" id={slotId} />;
  return (
    <EditForm
      {...form}
      isDirty={form.isDirty || further.typed.trim() !== ''}
      concerns={concernsOf(complete, isSequence(was) ? was : {}, orders, nameOf)}
      isChecking={isReading || further.isReading}
      onSend={() => {
        if (further.lost.length > 0) further.enter();
        else if (jsonProblem(toText(draft)) === undefined) save(sequence ? complete : draft);
      }}
    >
      {sequence === undefined ? (
        <Empty>{text.onlyJson}</Empty>
      ) : (
        <>
          {booked.missing.length > 0 && (
            <Button onPress={() => setDraft(withStops(sequence, booked.missing))} isPending={booked.isReading}>
              {text.addBooked(booked.missing.length)}
            </Button>
          )}
          <FurtherOrders {...{ further, orders }} />
          {/* Above the lists, which grow by a choice: what it offers stays where it is. */}
          <details open={users.length === 0}>
            <summary>{text.addUsers}</summary>
            <UserPicker
              chosen={users.map(([id]) => ({ id: Number(id), name: nameOf(Number(id)) }))}
              onChange={(options) => setDraft(Object.fromEntries(options.map(({ id }) => [id, sequence[id] ?? []])))}
            />
          </details>
          <p className="detail">{text.hint}</p>
          {users.map(([user]) => (
            <StopList
              key={user}
              user={user}
              name={nameOf(Number(user))}
              sequence={sequence}
              orders={orders}
              onChange={setDraft}
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
        <Conflict record={text.record(slotId)} by={by} contradiction={contradiction} describe={describe} />
      )}
    </EditForm>
  );
}

type Further = ReturnType<typeof useFurtherOrders>;

/** Keeps what stands in the field for further orders. It becomes stops when it is entered, or when the form is sent. */
function useFurtherOrders() {
  const [typed, setTyped] = useState('');
  const [entered, setEntered] = useState('');
  const settled = useDebounced(typed);
  const keys = keysIn(settled);
  const { found, isReading } = useStops(keys.map((orderKey) => ({ orderKey })));
  const isRead = settled === typed && !isReading;
  const lost = keys.filter((key) => isRead && !found.some(({ orderKey }) => orderKey === key));
  const enter = (text = typed) => setEntered(text);
  const isDone = isRead && entered !== '' && entered === typed;
  const problem = isDone && lost.length > 0 ? text.unknown(lost.join(', ')) : undefined;
  const clear = () => {
    setTyped('');
    setEntered('');
  };
  return { typed, setTyped, enter, clear, found, lost, problem, isEntered: isDone && !problem, isReading: !isRead };
}

/** The keys of orders in a text: a business's own ones, or numbers. */
const keysIn = (text: string) => text.split(/[\s,;]+/).filter(Boolean);

/** The field for further orders, each of which becomes the last stop of its customer. Enter does not submit the form. */
function FurtherOrders({ further, orders }: { readonly further: Further; readonly orders: Orders }) {
  // A field of one line would join the lines of a pasted column.
  const paste = (event: ClipboardEvent) => {
    const keys = keysIn(event.clipboardData.getData('text'));
    if (keys.length < 2) return;
    event.preventDefault();
    const all = [...keysIn(further.typed), ...keys].join(', ');
    further.setTyped(all);
    further.enter(all);
  };
  return (
    <div className="with-button labelled">
      <TextField
        label={text.addOrders}
        placeholder={text.numbers}
        hint={further.found.map(({ order }) => describeStop(order, orders)).join('; ') || undefined}
        problem={further.problem}
        onPaste={paste}
        value={further.typed}
        onChange={further.setTyped}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          further.enter();
        }}
      />
      <Button onPress={() => further.enter()}>{text.add}</Button>
    </div>
  );
}

/** Returns a sequence with further stops, each after the others of its user. */
function withStops(sequence: Sequence, stops: ReturnType<typeof useStops>['found']): Sequence {
  const next = new Map(Object.entries(sequence));
  for (const { user, order } of stops) next.set(user, [...(next.get(user) ?? []), order]);
  return Object.fromEntries(next);
}

/** Finds orders by their keys, and whose they are. Only those that the database has can be stops. */
function useStops(wanted: readonly { readonly orderKey: string; readonly userId?: number | undefined }[]) {
  const ids = useOrderIds(wanted.map(({ orderKey }) => orderKey));
  const unowned = wanted.flatMap(({ orderKey, userId }) => (userId ? [] : (ids?.get(orderKey) ?? [])));
  const { orders, isReading } = useOrders(unowned);
  const found = wanted.flatMap(({ orderKey, userId }) => {
    const order = ids?.get(orderKey);
    const user = userId ?? (order && orders.get(order)?.user?.id);
    return order === undefined || user === undefined ? [] : [{ orderKey, order, user: String(user) }];
  });
  return { found, isReading: isReading || ids === undefined };
}

/** Returns the booked orders that are no stops yet, first booked first. */
function useBookedOrders(slotId: number, sequence: Sequence) {
  const { bookings } = useLiveBookings(slotId);
  const stops = new Set(Object.values(sequence).flat());
  const booked = bookings.filter(({ state }) => state === SlotBookingState.BOOKED).toReversed();
  const { found, isReading } = useStops(booked);
  return { missing: found.filter(({ order }) => !stops.has(order)), isReading };
}

function draftOf({ deliverySequence }: GetDeliverySequenceResponse): SequenceDraft {
  return toDraft(JSON.stringify(deliverySequence ? toJson(ValueSchema, deliverySequence) : {}, null, 2));
}

/** Returns what looks like a mistake in a sequence. What stood in `was` is not questioned. */
function concernsOf(sequence: Sequence, was: Sequence, orders: Orders, nameOf: (userId: number) => string): string[] {
  const concerns = new Set<string>();
  const unknown = new Set<number>();
  for (const [user, stops] of Object.entries(sequence)) {
    for (const stop of stops) {
      const isNew = !was[user]?.includes(stop);
      const owner = orders.get(stop)?.user;
      if (isNew && orders.has(stop) && orders.get(stop) === undefined) unknown.add(stop);
      if (isNew && owner !== undefined && owner.id !== Number(user)) {
        concerns.add(text.otherOwner(nameOfStop(stop, orders), nameOf(Number(user)), isolate(owner.name)));
      }
      const count = countIn(sequence, stop);
      if (count > Math.max(1, countIn(was, stop))) concerns.add(text.twice(nameOfStop(stop, orders), count));
    }
  }
  return [...(unknown.size > 0 ? [text.unknown([...unknown].join(', '))] : []), ...concerns];
}

function countIn(sequence: Sequence, stop: number): number {
  return Object.values(sequence).reduce((sum, stops) => sum + stops.filter((each) => each === stop).length, 0);
}
