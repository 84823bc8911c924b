import { type ReactNode, useState } from 'react';
import { type Option, PickMany } from '../forms/pick-many.tsx';
import { useGroups } from './catalog.ts';

interface GroupPickerProps {
  readonly chosen: readonly number[];
  onChange(chosen: readonly number[]): void;
}

/** A choice of product groups. */
export function GroupPicker({ chosen, onChange }: GroupPickerProps): ReactNode {
  const groups = useGroups();
  const [search, setSearch] = useState('');
  const toOption = (id: number): Option => ({ id, name: groups.get(id) ?? `Group ${id}` });
  const sought = search.toLowerCase();
  const found = [...groups.keys()].map(toOption).filter(({ name }) => name.toLowerCase().includes(sought));
  return (
    <PickMany
      label="Groups"
      search={search}
      onSearch={setSearch}
      found={found}
      chosen={chosen.map(toOption)}
      onChange={(options) => onChange(options.map(({ id }) => id))}
    />
  );
}
