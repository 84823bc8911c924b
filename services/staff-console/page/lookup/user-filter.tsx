import type { ReactNode } from 'react';
import { PickOne } from '../forms/pick-one.tsx';
import { readId } from '../ui/text.ts';
import { useUserNames } from './people.ts';
import { UserPicker } from './user-picker.tsx';

interface FilterProps {
  /** The id in the URL; empty for none. */
  readonly value: string;
  onChange(value: string): void;
}

/** A filter of a list by a user, whom staff choose by name. */
export function UserFilter({ value, onChange }: FilterProps): ReactNode {
  const id = readId(value);
  const ids = id === undefined ? [] : [id];
  const nameOf = useUserNames(ids);
  return (
    <PickOne label="User" chosen={ids.map((id) => ({ id, name: nameOf(id) }))} onChange={onChange}>
      {(choice) => <UserPicker label="User" {...choice} />}
    </PickOne>
  );
}
