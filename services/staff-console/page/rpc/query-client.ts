import { Code, ConnectError } from '@connectrpc/connect';
import { type Query, QueryClient } from '@tanstack/react-query';
import { isTransient } from '../../../client/connect/errors.ts';

const maxRetries = 3;
// What could not be read because a service was away or busy is read again by itself while it is missing on the page.
const readAgainMs = 5_000;

const retryDelay = (attempt: number) => 400 * 2 ** attempt;
// A service that has not answered within a call's deadline has kept staff waiting for long enough.
const retry = (failures: number, error: unknown) =>
  failures < maxRetries && isTransient(error) && ConnectError.from(error).code !== Code.DeadlineExceeded;

/** Reads something again at each interval, if there is one, and sooner while it is missing because a service is away. */
export const readEvery =
  (ms: number | false) =>
  ({ state }: Pick<Query, 'state'>) =>
    state.data === undefined && isTransient(state.error) ? readAgainMs : ms;

/** Whether a list has several pages. They must not all be read again when the window regains the focus. */
const hasManyPages = (data: unknown) =>
  typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages) && data.pages.length > 1;

/** Creates the cache of the answers. Mutations are retried like queries, because each has an idempotency key. */
export function createQueryClient(): QueryClient {
  const refetchOnWindowFocus = ({ state }: Pick<Query, 'state'>) => !hasManyPages(state.data);
  return new QueryClient({
    defaultOptions: {
      queries: { retry, retryDelay, staleTime: 2_000, refetchInterval: readEvery(false), refetchOnWindowFocus },
      mutations: { retry, retryDelay },
    },
  });
}
