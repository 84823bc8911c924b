import pino from 'pino';
import type { Authenticator, Identity } from '../../shared/auth/authenticator.ts';
import type { Implementation, ServedCalls } from '../../shared/rpc/implementation.ts';
import { OpenRequests } from '../../shared/rpc/limits/open-requests.ts';

/** An authenticator that knows nobody. */
export const nobody: Authenticator = {
  authenticate: () => Promise.reject(new Error('nobody is known')),
  known: () => undefined,
};

/** An authenticator that takes each credential for the `sub` of its caller. */
export const everybody: Authenticator = {
  authenticate: async (authorization = '') => identityOf(authorization),
  known: (authorization) => (authorization === undefined ? undefined : identityOf(authorization)),
};

function identityOf(subject: string): Identity {
  return { subject, claimedStaffId: undefined, staffId: async () => undefined };
}

/** Calls without interceptors, for a server of the test's own. */
export function servedWithoutInterceptors(
  implementations: readonly Implementation[] = [],
  authenticator: Authenticator = nobody,
): ServedCalls {
  return {
    implementations,
    interceptors: { calls: [], mutations: [] },
    requests: new OpenRequests(authenticator),
    logger: pino({ level: 'silent' }),
    calls: undefined,
  };
}
