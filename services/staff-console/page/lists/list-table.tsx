import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { useInSight } from '../ui/in-sight.tsx';
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
      {chunksOf(rows).map((chunk, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a chunk has no other identity.
        <Chunk key={index} rows={chunk} columns={columns} keyOf={keyOf} isFirst={index === 0} />
      ))}
    </table>
  );
}

/** So many rows are drawn or left out together. */
const chunkSize = 50;
/** The usual height of a row. */
const rowPx = 48;

function chunksOf<Row>(rows: readonly Row[]): (readonly Row[])[] {
  return Array.from({ length: Math.ceil(rows.length / chunkSize) }, (_, index) =>
    rows.slice(index * chunkSize, (index + 1) * chunkSize),
  );
}

interface ChunkProps<Row> extends Pick<ListTableProps<Row>, 'columns' | 'rows' | 'keyOf'> {
  readonly isFirst: boolean;
}

/** Rows that are drawn while they are in sight or near it. */
function Chunk<Row>({ rows, columns, keyOf, isFirst }: ChunkProps<Row>): ReactNode {
  const { ref, isDrawn, heightPx } = useInSight<HTMLTableSectionElement>(rows.length * rowPx, isFirst);
  if (!isDrawn) {
    return (
      <tbody ref={ref} aria-hidden="true">
        <tr style={{ blockSize: heightPx }} />
      </tbody>
    );
  }
  return (
    <tbody ref={ref}>
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
