import { type ReactNode, useState } from 'react';
import type { Option } from '../../forms/pick-many.tsx';
import { UserPicker } from '../../lookup/user-picker.tsx';
import type { Sequence } from './sequence.ts';
import { StopList } from './stop-list.tsx';

interface SequenceEditorProps {
  readonly sequence: Sequence;
  onChange(sequence: Sequence): void;
}

/** Edits a list of stops for each user, and lets staff add users. */
export function SequenceEditor({ sequence, onChange }: SequenceEditorProps): ReactNode {
  // Only users that were found here have names. The sequence itself has only numbers.
  const [found, setFound] = useState<readonly Option[]>([]);
  const nameOf = (user: string) => found.find(({ id }) => String(id) === user)?.name ?? `User ${user}`;
  const chosen = Object.keys(sequence).map((user) => ({ id: Number(user), name: nameOf(user) }));
  const choose = (options: readonly Option[]) => {
    setFound([...found, ...options]);
    onChange(Object.fromEntries(options.map(({ id }) => [id, sequence[String(id)] ?? []])));
  };
  return (
    <div>
      {Object.entries(sequence).map(([user, stops]) => (
        <StopList
          key={user}
          name={nameOf(user)}
          stops={stops}
          onChange={(changed) => onChange({ ...sequence, [user]: changed })}
        />
      ))}
      <UserPicker chosen={chosen} onChange={choose} />
    </div>
  );
}
