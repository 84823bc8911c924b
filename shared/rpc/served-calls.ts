import type { Implementation } from './implementation.ts';
import type { Interceptor } from './interceptor.ts';
import type { OpenRequests } from './limits/open-requests.ts';

/** What both ports of a service serve, and what its calls pass. */
export interface ServedCalls {
  readonly implementations: readonly Implementation[];
  /** The first one outermost. */
  readonly interceptors: readonly Interceptor[];
  readonly requests: OpenRequests;
}
