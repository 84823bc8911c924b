import pino from 'pino';
import type { Authenticator } from '../../shared/auth/authenticator.ts';
import type { Implementation } from '../../shared/rpc/implementation.ts';
import { OpenRequests } from '../../shared/rpc/limits/open-requests.ts';
import type { ServedCalls } from '../../shared/rpc/served-calls.ts';

/** An authenticator that knows nobody. */
export const nobody: Authenticator = {
  authenticate: () => Promise.reject(new Error('nobody is known')),
  known: () => undefined,
};

/** Calls without interceptors, for a server of the test's own. */
export function servedWithoutInterceptors(implementations: readonly Implementation[] = []): ServedCalls {
  return {
    implementations,
    interceptors: [],
    requests: new OpenRequests(nobody),
    logger: pino({ level: 'silent' }),
    calls: undefined,
  };
}
