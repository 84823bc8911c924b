import { Code } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator.ts';
import type { Identity } from '../../auth/identity.ts';
import { codeName, fail, toPublicError } from '../../errors/errors.ts';
import type { CallMetrics } from '../../telemetry/call-metrics.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { Call } from '../call-context.ts';
import type { Rpc } from '../implementation.ts';
import type { Admission } from './admission.ts';
import { compileIdSets } from './id-sets.ts';
import { createRequestCheck } from './request-rules.ts';

/** Answers a call, or throws. */
export type Handle<Answer> = (call: Call) => Promise<Answer>;

/** Wraps the handling of a procedure's calls; made once a procedure, so that a call costs little. */
export type Interceptor = <Answer>(rpc: Rpc, next: Handle<Answer>) => Handle<Answer>;

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
    admission.interceptor, // what is refused here must cost next to nothing
    ...(tracing === undefined ? [] : [traces(tracing)]), // so that all the rest runs in the call's context
    logging(logger), // so that all other refused calls are seen
    errors(logger), // inside of them, which then see what the caller gets
    identity(authenticate), // before the bytes of a stranger are read
    validation, // declared bounds come before the body (design 1)
    staff, // first in the body of the procedures that need it (spec 5)
  ];
}

/** Puts a procedure's handling inside the interceptors. What goes wrong is thrown as a public ConnectError. */
export function intercept<Answer>(
  interceptors: readonly Interceptor[],
  rpc: Rpc,
  handle: Handle<Answer>,
): Handle<Answer> {
  return interceptors.reduceRight((next, interceptor) => interceptor(rpc, next), handle);
}

function traces(tracing: Tracing): Interceptor {
  return function traces({ method }, next) {
    return (call) => tracing.call(method, call, () => next(call));
  };
}

/** One line a call; never a token or a body. */
function logging(logger: Logger): Interceptor {
  return function logging(rpc, next) {
    const method = `${rpc.method.parent.typeName}/${rpc.method.name}`;
    const log = (call: Call, start: number, code: string) => {
      const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
      const { subject: sub, claimedStaffId: staffId, requestId, traceId, protocol } = call;
      logger.info({ method, code, durationMs, sub, staffId, requestId, traceId, protocol }, 'call');
    };
    return async (call) => {
      const start = performance.now();
      try {
        const answer = await next(call);
        log(call, start, 'OK');
        return answer;
      } catch (error) {
        log(call, start, codeName(toPublicError(error).code));
        throw error;
      }
    };
  };
}

/** Counts and times a procedure's calls. */
function metrics(calls: CallMetrics): Interceptor {
  return function metrics(rpc, next) {
    const byProtocol = calls.of(rpc.method);
    return async (call) => {
      const series = byProtocol[call.protocol];
      const start = performance.now();
      series.begin();
      try {
        const answer = await next(call);
        series.end(undefined, performance.now() - start);
        return answer;
      } catch (error) {
        series.end(toPublicError(error).code, performance.now() - start);
        throw error;
      }
    };
  };
}

/** Nothing internal passes it. */
function errors(logger: Logger): Interceptor {
  return function errors(_rpc, next) {
    return async (call) => {
      try {
        return await next(call);
      } catch (thrown) {
        const error = toPublicError(thrown);
        if (error.code === Code.Internal) {
          logger.error({ err: error.cause ?? error, requestId: call.requestId }, 'a call failed');
        }
        throw error;
      }
    };
  };
}

function identity(authenticate: Authenticator): Interceptor {
  return function identity(_rpc, next) {
    const identify = (call: Call, known: Identity) => {
      call.identity = known;
      return next(call);
    };
    return (call) => {
      // Known at once for a token that was seen before.
      const known = authenticate(call.header('authorization'));
      return known instanceof Promise ? known.then((identity) => identify(call, identity)) : identify(call, known);
    };
  };
}

const validation: Interceptor = ({ method }, next) => {
  const takeIdsAsSets = compileIdSets(method.input);
  const check = createRequestCheck(method.input);
  return (call) => {
    takeIdsAsSets?.(call.request);
    check(call.request);
    return next(call);
  };
};

const staff: Interceptor = ({ staffOnly }, next) => {
  if (staffOnly === undefined) return next;
  const judge = (call: Call, staffId: number | undefined) => {
    if (staffId === undefined) throw fail(staffOnly);
    return next(call);
  };
  return (call) => {
    const staffId = call.staffId();
    return staffId instanceof Promise ? staffId.then((known) => judge(call, known)) : judge(call, staffId);
  };
};
