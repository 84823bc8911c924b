import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { createConnectQueryKey, useTransport } from '@connectrpc/connect-query';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';

const rowsAtFirst = 50;

/** A list that a service answers page by page. */
export interface Source<I extends DescMessage, O extends DescMessage, Row> {
  readonly method: DescMethodUnary<I, O>;
  /** The request of the first page, which has 50 rows unless its `limit` says otherwise. */
  readonly request: MessageInitShape<I>;
  /** The most rows that an answer can have; 1,000 unless told. */
  readonly mostRows?: number;
  readonly rowsOf: (answer: MessageShape<O>) => readonly Row[];
  /** Returns what the request of the next page has besides, undefined after the last one; the answer's token unless told. */
  readonly next?: (answer: MessageShape<O>, rowsSoFar: number) => object | undefined;
  /** Reads what a file tells of the rows of a page besides. */
  readonly readAlso?: (rows: readonly Row[]) => Promise<void>;
}

/** Continues a list by the token in each answer. */
function byToken(answer: object): object | undefined {
  const pageToken = 'nextPageToken' in answer ? answer.nextPageToken : '';
  return pageToken === '' ? undefined : { pageToken };
}

/**
 * Reads a list as far as it is asked for or, with `isWhole`, to its end in large pages. While another one is read, shows
 * the last. The total is that of the first page, if it has one: 10,001 stands for more than 10,000.
 */
export function useRows<I extends DescMessage, O extends DescMessage, Row>(
  source: Source<I, O, Row>,
  isWhole: boolean,
) {
  const { method, request: input, rowsOf, next = byToken, mostRows = 1_000 } = source;
  const transport = useTransport();
  const query = useInfiniteQuery({
    queryKey: createConnectQueryKey({ schema: method, transport, input, cardinality: 'infinite' }),
    queryFn: async ({ pageParam, signal }) => {
      const page = { limit: rowsAtFirst, ...input, ...pageParam };
      return (await transport.unary(method, signal, undefined, undefined, page, undefined)).message;
    },
    initialPageParam: {},
    getNextPageParam(last, pages) {
      const page = next(last, pages.flatMap(rowsOf).length);
      return page && { ...page, ...(isWhole && { limit: mostRows }) };
    },
    placeholderData: keepPreviousData,
  });
  const { data, hasNextPage, isFetchingNextPage, error, fetchNextPage } = query;
  const pages = useMemo(() => data?.pages.map(rowsOf), [data, rowsOf]);
  const rows = useMemo(() => pages?.flat(), [pages]);
  const isReading = isWhole && hasNextPage && error === null;
  useEffect(() => {
    if (isReading && !isFetchingNextPage) void fetchNextPage();
  }, [isReading, isFetchingNextPage, fetchNextPage]);
  const first: object = data?.pages[0] ?? {};
  const total = 'total' in first && typeof first.total === 'number' ? first.total : undefined;
  return { ...query, isReading, pages, rows, total };
}

/** Returns a function that reads a list from its first page to its last. Each is asked for when the last was used. */
export function useEachPage<I extends DescMessage, O extends DescMessage, Row>(source: Source<I, O, Row>) {
  const { method, request, rowsOf, next = byToken, readAlso, mostRows = 1_000 } = source;
  const transport = useTransport();
  return async function* (signal: AbortSignal): AsyncGenerator<readonly Row[]> {
    let count = 0;
    for (let page: object | undefined = {}; page !== undefined; ) {
      const asked = { ...request, limit: mostRows, ...page };
      const { message } = await transport.unary(method, signal, undefined, undefined, asked, undefined);
      const rows = rowsOf(message);
      await readAlso?.(rows);
      yield rows;
      count += rows.length;
      page = next(message, count);
    }
  };
}
