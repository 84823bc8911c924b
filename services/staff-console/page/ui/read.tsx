import type { ReactNode } from 'react';
import { describeFailure } from '../rpc/failure.ts';
import { Loading, Problem } from './page.tsx';

interface ReadProps<Data> {
  readonly query: { readonly data: Data | undefined; readonly error: unknown; refetch(): unknown };
  /** What is read, such as "the slots". */
  readonly what: string;
  /** Links to where staff may go instead if it can't be read. */
  readonly elsewhere?: ReactNode;
  /** Renders what was read. */
  children(data: Data): ReactNode;
}

/** Shows what a query has read, that it is being read, or why it can't be. What was read before stays on show. */
export function Read<Data>({ query: { data, error, refetch }, what, elsewhere, children }: ReadProps<Data>) {
  return (
    <>
      {error !== null && (
        <Problem failure={describeFailure(error)} onRetry={() => void refetch()}>
          {elsewhere}
        </Problem>
      )}
      {data === undefined && error === null && <Loading what={what} />}
      {data !== undefined && children(data)}
    </>
  );
}
