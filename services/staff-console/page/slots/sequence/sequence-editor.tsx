import { type SlotBooking, SlotBookingState } from '#gen/slot/v1/slot_booking_service_pb';
import { type Orders, useOrders } from '../../lookup/orders.ts';
import { UserPicker } from '../../lookup/pickers.tsx';
import type { Sequence } from '../../sequence/sequence.ts';
import { Button } from '../../ui/button.tsx';
import { readId } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { StopList } from './stop-list.tsx';

const text = words.slot.sequence;

interface SequenceEditorProps {
  readonly sequence: Sequence;
  readonly nameOf: (userId: number) => string;
  readonly orders: Orders;
  /** Of the slot. */
  readonly bookings: readonly SlotBooking[];
  onChange(sequence: Sequence): void;
  /** What stands in the fields for further orders, by user. */
  readonly typed: Readonly<Record<number, string>>;
  onTyped(user: number, text: string): void;
}

/** Edits the stops of a slot, which are each user's orders, and lets staff add users, and what is booked. */
export function SequenceEditor(props: SequenceEditorProps) {
  const { sequence, nameOf, orders, bookings, typed, onChange, onTyped } = props;
  const users = Object.entries(sequence);
  const { booked, isReading } = useBookedOrders(sequence, bookings);
  const addBooked = () => {
    const next = new Map(users);
    for (const { user, order } of booked) next.set(user, [...(next.get(user) ?? []), order]);
    onChange(Object.fromEntries(next));
  };
  let before = 0;
  return (
    <>
      {booked.length > 0 && (
        <Button onPress={addBooked} isPending={isReading}>
          {text.addBooked(booked.length)}
        </Button>
      )}
      {/* Above the lists, which grow by a choice: what it offers stays where it is. */}
      <details open={users.length === 0}>
        <summary>{text.addUsers}</summary>
        <UserPicker
          label={words.lookup.customers}
          chosen={users.map(([id]) => ({ id: Number(id), name: nameOf(Number(id)) }))}
          onChange={(options) => onChange(Object.fromEntries(options.map(({ id }) => [id, sequence[id] ?? []])))}
        />
      </details>
      <p className="hint">{text.hint}</p>
      {users.map(([user, stops]) => {
        const first = before;
        before += stops.length;
        return (
          <StopList
            key={user}
            user={user}
            name={nameOf(Number(user))}
            sequence={sequence}
            before={first}
            orders={orders}
            onChange={onChange}
            typed={typed[Number(user)] ?? ''}
            onTyped={(changed) => onTyped(Number(user), changed)}
          />
        );
      })}
    </>
  );
}

/** Returns the booked orders that are no stops yet, first booked first. Only orders with a number can be stops. */
function useBookedOrders(sequence: Sequence, bookings: readonly SlotBooking[]) {
  const stops = new Set(Object.values(sequence).flat());
  const missing = bookings
    .filter(({ state }) => state === SlotBookingState.BOOKED)
    .map(({ orderKey, userId }) => ({ order: readId(orderKey), userId }))
    .toReversed();
  // Whose it is was not said when it was booked.
  const { orders, isReading } = useOrders(missing.flatMap(({ order, userId }) => (userId ? [] : (order ?? []))));
  const booked = missing.flatMap(({ order, userId }) => {
    const user = userId ?? (order && orders.get(order)?.user?.id);
    return order === undefined || user === undefined || stops.has(order) ? [] : [{ order, user: String(user) }];
  });
  return { booked, isReading };
}
