import type { ReactNode } from 'react';
import type { Filters } from './filters.ts';

/** A column of a CSV file, for programs: times in `fileTime`'s form, and amounts as plain decimals. */
export interface FileColumn<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Whether it has times of the business's zone, which its heading then names. */
  readonly isTime?: boolean;
  /** Whether it has codes that others use as they stand. */
  readonly isCode?: boolean;
}

/** A column of a list. */
export interface Column<Row> extends FileColumn<Row> {
  /** The heading, by which the URL names the column, too. */
  readonly title: string;
  /** The value in a CSV file and, without `show`, in the table. */
  readonly text: (row: Row) => string;
  /** The value in the table; its text unless it is more than that. */
  readonly show?: (row: Row) => ReactNode;
  /** The columns that stand in its place in a CSV file; itself unless told. */
  readonly file?: readonly FileColumn<Row>[];
  /** Compares two rows, if the list can be sorted by the column. */
  readonly compare?: (a: Row, b: Row) => number;
  readonly className?: string;
}

/** The order of a list. */
export interface Order {
  /** The title of the column; empty for the order of the service. */
  readonly by: string;
  readonly direction: 'ascending' | 'descending';
  /** Sorts by a column: first ascending, then descending, then as the service does. */
  sort(title: string): void;
}

/** Reads the order from the filter `sort`, such as "Code" or "-Code". */
export function orderOf({ values: { sort }, set }: Pick<Filters<'sort'>, 'values' | 'set'>): Order {
  const isDescending = sort.startsWith('-');
  const by = isDescending ? sort.slice(1) : sort;
  return {
    by,
    direction: isDescending ? 'descending' : 'ascending',
    sort: (title) => set({ sort: by !== title ? title : isDescending ? '' : `-${title}` }),
  };
}

/** Returns the rows in an order; as they are if there is none. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | undefined,
): readonly Row[] {
  const compare = columns.find(({ title }) => title === order?.by)?.compare;
  if (compare === undefined) return rows;
  return rows.toSorted(order?.direction === 'ascending' ? compare : (a, b) => compare(b, a));
}

/** Compares texts as people sort them, and numbers in them by their value. */
export const byText = new Intl.Collator('en', { numeric: true }).compare;
