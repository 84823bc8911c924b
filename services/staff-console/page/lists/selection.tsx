import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';

/** The records that are selected in a list or in the calendar, by their ids. */
export interface Chosen {
  has(id: number): boolean;
  readonly count: number;
  /** Selects a record, or no longer. With `isRange`, selects all from the last one that was selected to this one. */
  choose(id: number, isRange: boolean): void;
  add(ids: readonly number[]): void;
  only(ids: readonly number[]): void;
  /** Selects all records, also those that come on show later. */
  all(): void;
  clear(): void;
}

/**
 * Keeps which records are selected.
 *
 * @param ids the records on show in their order. Others are not selected any more.
 * @param view names what is on show, such as a week: in another view nothing is selected yet.
 */
export function useChosen(ids: readonly number[], view: string): Chosen {
  const none = { view, chosen: new Set<number>(), last: Number.NaN, isAll: false };
  const [state, setState] = useState(none);
  if (state.view !== view) setState(none);
  const { chosen, last, isAll } = state;
  const shown = new Set(ids);
  const has = (id: number) => (isAll || chosen.has(id)) && shown.has(id);
  const selected = ids.filter(has);
  const set = (ofNow: readonly number[], lastOfNow = last) =>
    setState({ view, chosen: new Set(ofNow), last: lastOfNow, isAll: false });
  return {
    has,
    count: selected.length,
    choose(id, isRange) {
      const [start, end] = [shown.has(last) ? last : id, id].map((each) => ids.indexOf(each)).toSorted((a, b) => a - b);
      if (isRange) set([...selected, ...ids.slice(start, (end ?? 0) + 1)], id);
      else set(has(id) ? selected.filter((each) => each !== id) : [...selected, id], id);
    },
    add: (more) => set([...selected, ...more]),
    only: (left) => set(left),
    all: () => setState({ ...state, isAll: true }),
    clear: () => set([]),
  };
}

/** The rows of a list that are selected. */
export interface Selection<Row> extends Chosen {
  readonly rows: readonly Row[];
  /** Selects the rows on show; none if all of these are selected. */
  toggleAll(): void;
}

/**
 * Keeps which rows of a list are selected.
 *
 * @param rows all rows that were read, and of these so many on show.
 * @param view names what is on show: in another view nothing is selected yet.
 */
export function useSelection<Row extends { readonly id: number }>(rows: readonly Row[], shown: number, view: string) {
  const ids = rows.map(({ id }) => id);
  const chosen = useChosen(ids, view);
  return {
    ...chosen,
    rows: rows.filter(({ id }) => chosen.has(id)),
    toggleAll: () => (chosen.count >= shown ? chosen.clear() : chosen.only(ids.slice(0, shown))),
  };
}

interface SelectionBarProps {
  readonly count: number;
  onClear(): void;
  readonly children: ReactNode;
}

/** The bar at the foot of a page: what can be done with what is selected. */
export function SelectionBar({ count, onClear, children }: SelectionBarProps) {
  return (
    <div className="selection-bar actions" role="toolbar" aria-label={words.lists.forSelected} tabIndex={-1}>
      <strong role="status">{words.lists.selected(count)}</strong>
      {children}
      <Button emphasis="quiet" onPress={onClear}>
        {words.clear}
      </Button>
    </div>
  );
}
