import { useState } from 'react';
import { type Option, PickMany } from '../forms/pick-many.tsx';
import { words } from '../words.ts';
import { useGroups } from './names.ts';

interface GroupPickerProps {
  readonly chosen: readonly number[];
  onChange(chosen: readonly number[]): void;
}

/** A choice of product groups. */
export function GroupPicker({ chosen, onChange }: GroupPickerProps) {
  const groups = useGroups();
  const [search, setSearch] = useState('');
  const toOption = (id: number): Option => ({ id, name: groups.get(id) ?? words.lookup.group(id) });
  const sought = search.trim().toLowerCase();
  const all = [...groups.keys()].map(toOption);
  return (
    <PickMany
      label={words.fields.groupIds}
      search={search}
      onSearch={setSearch}
      found={all.filter(({ id, name }) => name.toLowerCase().includes(sought) || String(id) === sought)}
      chosen={chosen.map(toOption)}
      onChange={(options) => onChange(options.map(({ id }) => id))}
      readByNumbers={async (numbers) => all.filter(({ id }) => numbers.includes(String(id)))}
    />
  );
}
