import type { ReactNode } from 'react';
import type { Orders } from '../../lookup/orders.ts';
import { UserPicker } from '../../lookup/pickers.tsx';
import type { Sequence } from '../../sequence/sequence.ts';
import { StopList } from './stop-list.tsx';

interface SequenceEditorProps {
  readonly sequence: Sequence;
  readonly nameOf: (userId: number) => string;
  readonly orders: Orders;
  onChange(sequence: Sequence): void;
  /** What stands in the fields for further orders, by user. */
  readonly typed: Readonly<Record<number, string>>;
  onTyped(user: number, text: string): void;
}

/** Edits a list of orders for each user, and lets staff add users. */
export function SequenceEditor({ sequence, nameOf, orders, typed, onChange, onTyped }: SequenceEditorProps): ReactNode {
  const users = Object.keys(sequence).map(Number);
  return (
    <>
      {/* Above the lists, which grow by a choice: what it offers stays where it is. */}
      <UserPicker
        hint="Each has their own sequence of orders."
        chosen={users.map((id) => ({ id, name: nameOf(id) }))}
        onChange={(options) => onChange(Object.fromEntries(options.map(({ id }) => [id, sequence[id] ?? []])))}
      />
      {users.map((user) => (
        <StopList
          key={user}
          name={nameOf(user)}
          stops={sequence[user] ?? []}
          orders={orders}
          onChange={(changed) => onChange({ ...sequence, [user]: changed })}
          typed={typed[user] ?? ''}
          onTyped={(text) => onTyped(user, text)}
        />
      ))}
    </>
  );
}
