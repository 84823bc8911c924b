import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator.ts';
import type { Database } from '../../db/database.ts';
import type { CallMetrics } from '../../telemetry/call-metrics.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { idempotency } from '../idempotency/idempotency.ts';
import { type StorageQuota, storageQuota } from '../idempotency/storage-quota.ts';
import type { Interceptors } from '../implementation.ts';
import type { Admission } from './admission.ts';
import { errors } from './errors.ts';
import { identity, staff } from './identity.ts';
import { logging, metrics, traces } from './observation.ts';
import { turns } from './turns.ts';
import { validation } from './validation.ts';

export interface InterceptorOptions {
  readonly logger: Logger;
  readonly authenticator: Authenticator;
  readonly admission: Admission;
  readonly quota: StorageQuota;
  readonly database: Database;
  /** Undefined without a metrics port: calls then skip the metrics. */
  readonly calls?: CallMetrics | undefined;
  /** Undefined when no traces are exported. */
  readonly tracing?: Tracing | undefined;
}

/** Creates the interceptors of both server stacks, outermost first. */
export function createInterceptors({
  logger,
  authenticator,
  admission,
  quota,
  database,
  calls,
  tracing,
}: InterceptorOptions): Interceptors {
  return {
    calls: [
      ...(calls === undefined ? [] : [metrics(calls)]), // outermost, so that every call is counted
      ...(tracing === undefined ? [] : [traces(tracing)]), // so that everything inside runs in the call's trace context
      logging(logger), // so that every call is logged, refused ones included
      errors(logger), // inside logging and metrics, so that they see the error that the caller gets
      identity(authenticator, logger), // before decoding: a caller without a credential costs no decoding
      admission.interceptor, // after identity, because callers share the permits; still before decoding
      validation, // before the body: declared types and bounds come first (design 1)
      staff, // the staff check is the first rule of the body (spec 5)
    ],
    mutations: [
      storageQuota(quota), // outside of the key's transaction: who has nothing left gets no connection
      turns(), // outside of the transaction, too: a call gets its connection with its turn
      idempotency(database), // innermost: its transaction has the procedure's statements, and stores the answer
    ],
  };
}
