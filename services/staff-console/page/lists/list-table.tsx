import { Button } from '../ui/button.tsx';
import { useInSight } from '../ui/in-sight.tsx';
import { words } from '../words.ts';
import type { Column, Order } from './column.tsx';
import type { Selection } from './selection.tsx';

interface ListTableProps<Row> {
  readonly labelledBy: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => number | string;
  /** The order of the rows; undefined if the list can't be sorted. */
  readonly order?: Order | undefined;
  readonly selection?: Pick<Selection<Row>, 'has' | 'count' | 'choose' | 'toggleAll'>;
}

/** A list as a table, whose headings sort it. On a phone, each row is a card. */
export function ListTable<Row>(props: ListTableProps<Row>) {
  const { labelledBy, columns, rows, keyOf, order, selection } = props;
  return (
    <table className="list" aria-labelledby={labelledBy} aria-rowcount={rows.length + 1}>
      <thead>
        <tr>
          {selection !== undefined && (
            <td className="select">
              <SelectBox
                name={words.lists.selectAll}
                isSelected={rows.length > 0 && selection.count >= rows.length}
                onPress={selection.toggleAll}
              />
            </td>
          )}
          {columns.map((column) => (
            <Heading key={column.title} column={column} order={order} />
          ))}
        </tr>
      </thead>
      {chunksOf(rows).map(({ first, rows: chunk }) => (
        <Chunk
          key={first}
          {...{ columns, keyOf, first, selection }}
          rows={chunk}
          isWindowed={rows.length > alwaysDrawn}
        />
      ))}
    </table>
  );
}

/** So many rows are all drawn; of more, only those in sight. */
const alwaysDrawn = 200;
/** So many rows are drawn or left out together. */
const chunkSize = 20;
/** The usual height of a row. */
const rowPx = 48;

function chunksOf<Row>(rows: readonly Row[]) {
  return Array.from({ length: Math.ceil(rows.length / chunkSize) }, (_, index) => {
    const first = index * chunkSize;
    return { first, rows: rows.slice(first, first + chunkSize) };
  });
}

interface ChunkProps<Row> extends Pick<ListTableProps<Row>, 'columns' | 'rows' | 'keyOf'> {
  readonly selection: ListTableProps<Row>['selection'];
  readonly first: number;
  readonly isWindowed: boolean;
}

function Chunk<Row>({ rows, columns, keyOf, first, isWindowed, selection }: ChunkProps<Row>) {
  const { ref, isNear, heightPx } = useInSight<HTMLTableSectionElement>(rows.length * rowPx);
  if (isWindowed && !isNear) {
    return (
      <tbody ref={ref} aria-hidden="true">
        <tr style={{ blockSize: heightPx }} />
      </tbody>
    );
  }
  return (
    <tbody ref={ref}>
      {rows.map((row, place) => (
        // The first row is that of the headings.
        <tr key={keyOf(row)} aria-rowindex={first + place + 2}>
          {selection !== undefined && (
            <td className="select">
              <SelectBox
                name={words.lists.select(columns[0]?.text(row) ?? '')}
                isSelected={selection.has(Number(keyOf(row)))}
                onPress={(isRange) => selection.choose(Number(keyOf(row)), isRange)}
              />
            </td>
          )}
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

interface SelectBoxProps {
  readonly name: string;
  readonly isSelected: boolean;
  /** @param isRange whether Shift is held. */
  onPress(isRange: boolean): void;
}

function SelectBox({ name, isSelected, onPress }: SelectBoxProps) {
  return (
    <input
      type="checkbox"
      aria-label={name}
      checked={isSelected}
      onClick={({ shiftKey }) => onPress(shiftKey)}
      readOnly
    />
  );
}

// Of a column's classes, only the alignment of numbers is for its heading, too.
const headingClass = (className: string | undefined) => (className === 'number' ? className : undefined);

interface HeadingProps<Row> {
  readonly column: Column<Row>;
  readonly order: Order | undefined;
}

function Heading<Row>({ column: { title, compare, className }, order }: HeadingProps<Row>) {
  if (order === undefined || (order.isOfService ? order.by !== title : compare === undefined)) {
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
        {title} {direction && <span aria-hidden="true">{direction === 'ascending' ? '↑' : '↓'}</span>}
      </Button>
    </th>
  );
}
