import type { DescMessage } from '@bufbuild/protobuf';
import { type ReactNode, useId, useState } from 'react';
import { useLocation } from 'react-router';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Empty, Read } from '../ui/page.tsx';
import { words } from '../words.ts';
import { type Column, type Order, sorted } from './column.tsx';
import { CsvButton } from './csv-button.tsx';
import { Endless } from './endless.tsx';
import { ListTable } from './list-table.tsx';
import { type Selection, SelectionBar, useSelection } from './selection.tsx';
import { type Source, useEachPage, useRows } from './source.ts';

interface ListProps<I extends DescMessage, O extends DescMessage, Row> {
  readonly source: Source<I, O, Row>;
  /** What is listed, such as "coupons". A CSV file of the list begins with it. */
  readonly what: string;
  /** Says what would stand here while there is nothing yet. */
  readonly empty: string;
  readonly create?: { readonly name: string; readonly href: string };
  /** Says that nothing matches the filters in the URL. Without it, the list has none. */
  readonly noMatch?: string;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly order?: Order;
  /** Whether a row is on show, of those that the service has answered. The list is then read to its end. */
  readonly matches?: ((row: Row) => boolean) | undefined;
  /** Renders what can be done with the rows that are selected. Without it, none can be. */
  readonly forSelected?: (rows: readonly Row[], selection: Selection<Row>) => ReactNode;
}

const shownAtOnce = 100;
const text = words.lists;

/**
 * Shows a list, as the service gives it or as it is filtered and sorted here: as a table that grows as staff scroll, and
 * as a CSV file. Says how far it was read, why it is empty, and why it can't be read.
 */
export function List<I extends DescMessage, O extends DescMessage, Row extends { readonly id: number }>(
  props: ListProps<I, O, Row>,
) {
  const { source, what, columns, order, matches, forSelected } = props;
  // Other filters or another order begin a new view.
  const { search } = useLocation();
  const begin = { search, most: shownAtOnce, isStopped: false, isWhole: false };
  const [view, setView] = useState(begin);
  if (view.search !== search) setView(begin);
  const isSorted = order !== undefined && order.by !== '' && !order.isOfService;
  const list = useRows(source, (matches !== undefined || isSorted || view.isWhole) && !view.isStopped);
  const eachPage = useEachPage(source);
  const narrow = (rows: readonly Row[]) => sorted(matches === undefined ? rows : rows.filter(matches), columns, order);
  const rows = list.rows && narrow(list.rows);
  const count = rows?.length ?? 0;
  const hasMore = count > view.most || (list.hasNextPage && !list.isReading);
  const showMore = () => {
    setView({ ...view, most: view.most + shownAtOnce, isStopped: false });
    if (count <= view.most + shownAtOnce && list.hasNextPage) void list.fetchNextPage();
  };
  const id = useId();
  const shown = rows?.slice(0, view.most) ?? [];
  const selection = useSelection(rows ?? [], shown.length, search);
  const total = list.hasNextPage ? matches === undefined && list.total : count;
  return (
    <>
      <Read query={{ ...list, data: rows }} what={`the ${what}`}>
        {() => (
          <>
            {list.isReading && (
              <p role="status" className="detail">
                {text.looked(list.rows?.length.toLocaleString('en') ?? '0')}{' '}
                <Button onPress={() => setView({ ...view, isStopped: true })}>{text.stop}</Button>
              </p>
            )}
            {count === 0 && !list.isReading && !hasMore && <NoRows {...props} search={search} />}
            {count > 0 && (
              <>
                <div className="list-header">
                  <span id={id} className="detail">
                    {typeof total === 'number' && `${text.total(total, what)} · `}
                    {isSorted ? text.sortedBy(order.by) : props.caption}
                  </span>
                  <CsvButton name={what.replaceAll(' ', '-')} columns={columns} eachPage={eachPage} narrow={narrow} />
                </div>
                <ListTable
                  {...{ columns, keyOf, order }}
                  labelledBy={id}
                  rows={shown}
                  {...(forSelected !== undefined && { selection })}
                />
              </>
            )}
          </>
        )}
      </Read>
      <Endless
        hasMore={hasMore}
        isLoading={list.isFetchingNextPage}
        hasFailed={list.error !== null || view.isStopped}
        onMore={showMore}
      />
      {forSelected !== undefined && selection.rows.length > 0 && (
        <SelectionBar count={selection.rows.length} onClear={selection.clear}>
          {(selection.count < count || list.hasNextPage) && !list.isReading && (
            <Button
              emphasis="quiet"
              onPress={() => {
                setView({ ...view, isStopped: false, isWhole: true });
                selection.all();
              }}
            >
              {text.selectAllOf(typeof total === 'number' ? text.total(total, what) : what)}
            </Button>
          )}
          {list.isReading ? null : forSelected(selection.rows, selection)}
        </SelectionBar>
      )}
    </>
  );
}

const keyOf = ({ id }: { readonly id: number }) => id;

type NoRowsProps = Pick<ListProps<never, never, never>, 'empty' | 'create' | 'noMatch'> & { readonly search: string };

function NoRows({ empty, create, noMatch, search }: NoRowsProps) {
  const { pathname } = useLocation();
  const isFiltered = noMatch !== undefined && [...new URLSearchParams(search).keys()].some((name) => name !== 'sort');
  const next = isFiltered ? { name: text.clearFilters, href: pathname } : create;
  return (
    <Empty>
      {isFiltered ? noMatch : empty} {next && <ButtonLink href={next.href}>{next.name}</ButtonLink>}
    </Empty>
  );
}
