import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { ReactNode } from 'react';
import { Time } from '../business/time.tsx';
import { fileTime } from '../business/time-input.ts';

/** A column of a CSV file, for programs: times in `fileTime`'s form, and amounts as plain decimals. */
export interface FileColumn<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Whether it has times of the business's zone, which its heading then names. */
  readonly isTime?: boolean;
  /** Whether it has codes that others use as they stand. */
  readonly isCode?: boolean;
}

/** A column of a list. The URL names it by its title, too; its text is the value in a file and, without `show`, in the table. */
export interface Column<Row> extends FileColumn<Row> {
  /** The value in the table; its text unless it is more than that. */
  readonly show?: (row: Row) => ReactNode;
  /** The columns that stand in its place in a CSV file; itself unless told. */
  readonly file?: readonly FileColumn<Row>[];
  /** Compares two rows, if the list can be sorted by the column here. */
  readonly compare?: (a: Row, b: Row) => number;
  readonly className?: string;
}

/** Returns a column of numbers, by which the list can be sorted. */
export function numberColumn<Row>(title: string, numberOf: (row: Row) => number): Column<Row> {
  return {
    title,
    text: (row) => String(numberOf(row)),
    show: (row) => numberOf(row).toLocaleString('en'),
    compare: (a, b) => numberOf(a) - numberOf(b),
    className: 'number',
  };
}

/** Returns a column of times, by which the list can be sorted. */
export function timeColumn<Row>(title: string, timeOf: (row: Row) => Timestamp | undefined): Column<Row> {
  const msOf = (row: Row) => Number(timeOf(row)?.seconds ?? 0);
  return {
    title,
    text: (row) => fileTime(timeOf(row)),
    show: (row) => <Time at={timeOf(row)} />,
    isTime: true,
    compare: (a, b) => msOf(a) - msOf(b),
    className: 'time',
  };
}

/** Returns a column of texts, by which the list can be sorted. */
export function textColumn<Row>(
  title: string,
  text: (row: Row) => string,
  further: Omit<Column<Row>, 'title' | 'text' | 'compare'> = {},
): Column<Row> {
  return { title, text, compare: (a, b) => byText(text(a), text(b)), ...further };
}

/** The order of a list. */
export interface Order {
  /** The title of the column; empty for the order of the service. */
  readonly by: string;
  readonly direction: 'ascending' | 'descending';
  /** Whether the service sorts by this column. */
  readonly isOfService?: boolean;
  /** Sorts by a column: first ascending, then descending, then as the service does. */
  sort(title: string): void;
}

/** Returns the rows in an order; as they are if there is none. */
export function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order | undefined) {
  const compare = columns.find(({ title }) => title === order?.by)?.compare;
  if (compare === undefined) return rows;
  return rows.toSorted(order?.direction === 'ascending' ? compare : (a, b) => compare(b, a));
}

/** Compares texts as people sort them, and numbers in them by their value. */
export const byText = new Intl.Collator('en', { numeric: true }).compare;
