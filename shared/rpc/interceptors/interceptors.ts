import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator.ts';
import type { CallMetrics } from '../../telemetry/call-metrics.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { Interceptor } from '../interceptor.ts';
import type { Admission } from './admission.ts';
import { errors } from './errors.ts';
import { identity } from './identity.ts';
import { logging } from './logging.ts';
import { metrics } from './metrics.ts';
import { staff } from './staff.ts';
import { traces } from './traces.ts';
import { validation } from './validation.ts';

export interface InterceptorOptions {
  readonly logger: Logger;
  readonly authenticate: Authenticator;
  readonly admission: Admission;
  /** Undefined where nobody can read them: calls then pay nothing. */
  readonly calls?: CallMetrics | undefined;
  /** Undefined where no traces are asked for. */
  readonly tracing?: Tracing | undefined;
}

/** The interceptors of both server stacks, outermost first. */
export function createInterceptors({
  logger,
  authenticate,
  admission,
  calls,
  tracing,
}: InterceptorOptions): readonly Interceptor[] {
  return [
    ...(calls === undefined ? [] : [metrics(calls)]), // outermost, so that every call is counted
    admission.interceptor, // before all that costs time: a refused call must cost next to nothing
    ...(tracing === undefined ? [] : [traces(tracing)]), // so that all the rest runs in the call's context
    logging(logger), // so that every call that was admitted is logged
    errors(logger), // inside the log and the metrics, so that they see the error that the caller gets
    identity(authenticate), // before the request is decoded: a stranger's bytes are not read
    validation, // before the body: types and bounds come first (design 1)
    staff, // innermost: the staff check is the first rule of the body (spec 5)
  ];
}
