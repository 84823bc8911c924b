import { useState } from 'react';

/** The slots that are chosen in the calendar. */
export interface Chosen {
  has(id: number): boolean;
  readonly count: number;
  /** Chooses a slot, or no longer. With `isRange`, chooses all from the last one that was chosen to this one. */
  choose(id: number, isRange: boolean): void;
  /** Chooses further slots. */
  add(ids: readonly number[]): void;
  clear(): void;
}

/**
 * Keeps which slots are chosen.
 *
 * @param ids the slots on show in their order. Others are not chosen any more.
 */
export function useChosen(ids: readonly number[]): Chosen {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [last, setLast] = useState<number>();
  const shown = new Set(ids);
  const has = (id: number) => chosen.has(id) && shown.has(id);
  return {
    has,
    count: ids.filter(has).length,
    choose(id, isRange) {
      const [start, end] = [ids.indexOf(last ?? id), ids.indexOf(id)].toSorted((left, right) => left - right);
      setLast(id);
      if (isRange) setChosen(new Set([...chosen, ...ids.slice(start, (end ?? 0) + 1)]));
      else setChosen(has(id) ? new Set([...chosen].filter((each) => each !== id)) : new Set([...chosen, id]));
    },
    add: (more) => setChosen(new Set([...chosen, ...more])),
    clear: () => setChosen(new Set()),
  };
}
