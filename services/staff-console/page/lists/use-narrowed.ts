import { useEffect, useState } from 'react';

/** A list that is read page by page. */
interface PagedList<Row> {
  /** The rows that have been read; undefined until the first page has arrived. */
  readonly rows: readonly Row[] | undefined;
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly error: unknown;
  fetchNextPage(): unknown;
}

/** A list as it is filtered and sorted here. */
export interface NarrowedList<Row> {
  /** The first matching rows; undefined until the first page has arrived. */
  readonly rows: readonly Row[] | undefined;
  /** How many rows match so far. */
  readonly count: number;
  /** How many rows have been looked through, while more are. */
  readonly looked: number | undefined;
  readonly hasMore: boolean;
  /** Whether staff have stopped it. It then goes on only at a press. */
  readonly isStopped: boolean;
  /** Stops looking through more rows. */
  stop(): void;
  more(): void;
}

const shownAtOnce = 100;

/**
 * Filters and sorts a list here. It is then read to its end, unless staff stop it. Otherwise it is read as far as staff
 * look at it.
 *
 * @param key identifies the filters and the order.
 * @param isWhole whether the list must be read to its end.
 */
export function useNarrowed<Row>(
  list: PagedList<Row>,
  narrow: (rows: readonly Row[]) => readonly Row[],
  { key, isWhole }: { readonly key: string; readonly isWhole: boolean },
): NarrowedList<Row> {
  const { hasNextPage, isFetchingNextPage, error, fetchNextPage } = list;
  const [view, setView] = useState({ key, most: shownAtOnce, isStopped: false });
  if (view.key !== key) setView({ key, most: shownAtOnce, isStopped: false });
  const isReading = isWhole && hasNextPage && !view.isStopped && error === null;
  useEffect(() => {
    if (isReading && !isFetchingNextPage) fetchNextPage();
  }, [isReading, isFetchingNextPage, fetchNextPage]);
  const rows = list.rows && narrow(list.rows);
  const count = rows?.length ?? 0;
  return {
    rows: rows?.slice(0, view.most),
    count,
    looked: isReading ? list.rows?.length : undefined,
    isStopped: view.isStopped,
    hasMore: count > view.most || (hasNextPage && !isReading),
    stop: () => setView({ ...view, isStopped: true }),
    more() {
      setView({ ...view, most: view.most + shownAtOnce, isStopped: false });
      if (count <= view.most + shownAtOnce && hasNextPage) fetchNextPage();
    },
  };
}
