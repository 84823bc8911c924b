import { QueryClient } from '@tanstack/react-query';
import { isTransient } from './failure.ts';

const maxRetries = 3;

const retryDelay = (attempt: number) => 400 * 2 ** attempt;
const retry = (failures: number, error: unknown) => failures < maxRetries && isTransient(error);

/**
 * Creates the cache of what the services have answered. A mutation may be tried again like a query, because each has an idempotency
 * key. While the browser is offline both wait, and go on by themselves.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry, retryDelay, staleTime: 2_000 },
      mutations: { retry, retryDelay },
    },
  });
}
