import type { Logger } from 'pino';
import type { CallMetrics } from '../telemetry/call-metrics.ts';
import type { Implementation, Interceptors } from './implementation.ts';
import type { OpenRequests } from './limits/open-requests.ts';

/** The services of both ports, and the interceptors and limits for their calls. */
export interface ServedCalls {
  readonly implementations: readonly Implementation[];
  readonly interceptors: Interceptors;
  readonly requests: OpenRequests;
  readonly logger: Logger;
  /** Undefined without a metrics port. */
  readonly calls: CallMetrics | undefined;
}
