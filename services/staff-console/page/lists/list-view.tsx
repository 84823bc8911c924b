import type { ReactNode } from 'react';
import { describeFailure } from '../rpc/failure.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Loading, Problem } from '../ui/page.tsx';
import type { Column, Order } from './column.ts';
import { Endless } from './endless.tsx';
import { ListTable } from './list-table.tsx';
import type { NarrowedList } from './use-narrowed.ts';

interface ListViewProps<Row> {
  /** What is listed, such as "the coupons". */
  readonly what: string;
  /** Says that nothing matches. */
  readonly empty: string;
  readonly caption: string;
  readonly list: NarrowedList<Row>;
  readonly query: { readonly error: unknown; readonly isFetchingNextPage: boolean; refetch(): unknown };
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => number | string;
  readonly order?: Order;
}

/** Shows a list: while it is read, as a table that grows as staff scroll, and why it is empty or can't be read. */
export function ListView<Row>(props: ListViewProps<Row>): ReactNode {
  const { what, empty, caption, list, query, ...table } = props;
  const { rows, looked, hasMore } = list;
  const { error } = query;
  return (
    <>
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void query.refetch()} />}
      {rows === undefined && error === null && <Loading what={what} />}
      {looked !== undefined && (
        <p role="status" className="detail">
          {looked.toLocaleString('en')} looked through… <Button onPress={list.stop}>Stop</Button>
        </p>
      )}
      {rows?.length === 0 && looked === undefined && !hasMore && <Empty>{empty}</Empty>}
      {rows !== undefined && rows.length > 0 && <ListTable {...table} caption={caption} rows={rows} />}
      <Endless
        hasMore={hasMore}
        isLoading={query.isFetchingNextPage}
        hasFailed={error !== null || list.isStopped}
        onMore={list.more}
      />
    </>
  );
}
