import type { Implementation } from './implementation.ts';
import type { Interceptor } from './interceptor.ts';
import type { OpenRequests } from './limits/open-requests.ts';

/** The services of both ports, and the interceptors and limits for their calls. */
export interface ServedCalls {
  readonly implementations: readonly Implementation[];
  /** The first one is outermost. */
  readonly interceptors: readonly Interceptor[];
  /** Those that log, count and trace, for requests that are refused before a procedure. */
  readonly observers: readonly Interceptor[];
  readonly requests: OpenRequests;
}
