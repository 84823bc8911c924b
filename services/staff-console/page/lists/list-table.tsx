import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import type { Column, Order } from './column.ts';

interface ListTableProps<Row> {
  /** The id of the element that names the table. */
  readonly labelledBy: string;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => number | string;
  /** The order of the rows; undefined if the list can't be sorted. */
  readonly order?: Order | undefined;
}

/** A list as a table, whose headings sort it. On a phone, each row is a card. */
export function ListTable<Row>({ labelledBy, columns, rows, keyOf, order }: ListTableProps<Row>): ReactNode {
  return (
    <table className="list" aria-labelledby={labelledBy}>
      <thead>
        <tr>
          {columns.map((column) => (
            <Heading key={column.title} column={column} order={order} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, text, show = text, className }, index) =>
              index === 0 ? (
                <th key={title} scope="row" className={className}>
                  {show(row)}
                </th>
              ) : (
                <td key={title} data-label={title} className={className}>
                  {show(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// Of a column's classes, only the alignment of numbers is for its heading, too.
const headingClass = (className: string | undefined) => (className === 'number' ? className : undefined);

interface HeadingProps<Row> {
  readonly column: Column<Row>;
  readonly order: Order | undefined;
}

function Heading<Row>({ column: { title, compare, className }, order }: HeadingProps<Row>): ReactNode {
  if (order === undefined || compare === undefined) {
    return (
      <th scope="col" className={headingClass(className)}>
        {title}
      </th>
    );
  }
  const direction = order.by === title ? order.direction : undefined;
  return (
    <th scope="col" className={headingClass(className)} aria-sort={direction}>
      <Button emphasis="quiet" onPress={() => order.sort(title)}>
        {title} <span aria-hidden="true">{direction === undefined ? '↕' : direction === 'ascending' ? '↑' : '↓'}</span>
      </Button>
    </th>
  );
}
