import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';
import { type Chosen, useChosen } from './chosen.ts';

/** The rows of a list that are selected. */
export interface Selection<Row> extends Chosen {
  readonly rows: readonly Row[];
  /** Selects all rows on show, or none if all are selected. */
  toggleAll(): void;
}

/**
 * Keeps which rows of a list are selected.
 *
 * @param rows the rows on show. Rows whose key is no number can't be selected.
 * @param view names what is on show: in another view nothing is selected yet.
 */
export function useSelection<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => number | string,
  view: string,
): Selection<Row> {
  const ids = rows.map(keyOf).filter((key) => typeof key === 'number');
  const chosen = useChosen(ids, view);
  return {
    ...chosen,
    rows: rows.filter((row) => chosen.has(Number(keyOf(row)))),
    toggleAll: () => (chosen.count === ids.length ? chosen.clear() : chosen.only(ids)),
  };
}

interface SelectionBarProps {
  readonly count: number;
  onClear(): void;
  readonly children: ReactNode;
}

/** The bar at the foot of a page: what can be done with what is selected. */
export function SelectionBar({ count, onClear, children }: SelectionBarProps): ReactNode {
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
