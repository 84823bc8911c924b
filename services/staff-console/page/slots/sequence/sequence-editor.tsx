import type { ReactNode } from 'react';
import { UserPicker } from '../../lookup/user-picker.tsx';
import type { Sequence } from '../../sequence/sequence.ts';
import type { Orders } from '../../sequence/stops.tsx';
import { StopList } from './stop-list.tsx';

interface SequenceEditorProps {
  readonly sequence: Sequence;
  readonly nameOf: (userId: number) => string;
  readonly orders: Orders;
  onChange(sequence: Sequence): void;
  /** Tells whether a user's field has text that was not added. */
  onTyped(user: number, isTyped: boolean): void;
}

/** Edits a list of orders for each user, and lets staff add users. */
export function SequenceEditor({ sequence, nameOf, orders, onChange, onTyped }: SequenceEditorProps): ReactNode {
  const users = Object.keys(sequence).map(Number);
  return (
    <>
      {users.map((user) => (
        <StopList
          key={user}
          name={nameOf(user)}
          stops={sequence[user] ?? []}
          orders={orders}
          onChange={(changed) => onChange({ ...sequence, [user]: changed })}
          onTyped={(isTyped) => onTyped(user, isTyped)}
        />
      ))}
      <UserPicker
        hint="Each has their own sequence of orders."
        chosen={users.map((id) => ({ id, name: nameOf(id) }))}
        onChange={(options) => onChange(Object.fromEntries(options.map(({ id }) => [id, sequence[id] ?? []])))}
      />
    </>
  );
}
