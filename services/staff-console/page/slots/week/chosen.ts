import { createContext, useState } from 'react';

/** The slots that are chosen in the calendar. */
export interface Chosen {
  has(id: number): boolean;
  readonly count: number;
  /** Chooses a slot, or no longer. With `isRange`, chooses all from the last one that was chosen to this one. */
  choose(id: number, isRange: boolean): void;
  /** Chooses further slots. */
  add(ids: readonly number[]): void;
  /** Keeps these only. */
  only(ids: readonly number[]): void;
  clear(): void;
}

const noop = () => {};

/** What is chosen, for the slots' cards: a choice draws their boxes again and nothing else of them. */
export const ChosenContext = createContext<Chosen>({
  has: () => false,
  count: 0,
  choose: noop,
  add: noop,
  only: noop,
  clear: noop,
});

/**
 * Keeps which slots are chosen.
 *
 * @param ids the slots on show in their order. Others are not chosen any more.
 * @param view names what is on show, such as a week: in another view nothing is chosen yet.
 */
export function useChosen(ids: readonly number[], view: string): Chosen {
  const none = { view, chosen: new Set<number>(), last: Number.NaN };
  const [state, setState] = useState(none);
  if (state.view !== view) setState(none);
  const { chosen, last } = state;
  const shown = new Set(ids);
  const has = (id: number) => chosen.has(id) && shown.has(id);
  const set = (ofNow: readonly number[], lastOfNow = last) =>
    setState({ view, chosen: new Set(ofNow), last: lastOfNow });
  return {
    has,
    count: ids.filter(has).length,
    choose(id, isRange) {
      const [start, end] = [shown.has(last) ? last : id, id].map((each) => ids.indexOf(each)).toSorted((a, b) => a - b);
      if (isRange) set([...chosen, ...ids.slice(start, (end ?? 0) + 1)], id);
      else set(has(id) ? [...chosen].filter((each) => each !== id) : [...chosen, id], id);
    },
    add: (more) => set([...chosen, ...more]),
    only: (left) => set(left),
    clear: () => set([]),
  };
}
