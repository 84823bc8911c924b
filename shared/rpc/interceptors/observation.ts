import type { Logger } from 'pino';
import { codeName, toPublicError } from '../../errors/errors.ts';
import type { CallMetrics } from '../../telemetry/call-metrics.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../implementation.ts';
import { procedureName } from '../procedure.ts';

/** Counts and times a procedure's calls. */
export function metrics(calls: CallMetrics): Interceptor {
  return function metrics({ method }, next) {
    const begin = {
      grpc: calls.of(method, 'grpc'),
      connect: calls.of(method, 'connect'),
      'grpc-web': calls.of(method, 'grpc-web'),
    };
    return async (call) => {
      const end = begin[call.protocol]();
      try {
        const result = await next(call);
        end();
        return result;
      } catch (error) {
        end(toPublicError(error).code);
        throw error;
      }
    };
  };
}

/** Runs each call in its own span. */
export function traces(tracing: Tracing): Interceptor {
  return function traces({ method }, next) {
    return (call) => tracing.call(method, call, () => next(call));
  };
}

/** Logs one line per call: caller, procedure, code, refusal and duration. It never logs a token or a message. */
export function logging(logger: Logger): Interceptor {
  return function logging(rpc, next) {
    const method = procedureName(rpc.method);
    const log = (call: CallContext, start: number, code: string, refusal?: string) => {
      const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
      const { subject: sub, claimedStaffId: staffId, requestId, traceId, protocol } = call;
      logger.info({ method, code, refusal, durationMs, sub, staffId, requestId, traceId, protocol }, 'call');
    };
    return async (call) => {
      const start = performance.now();
      try {
        const result = await next(call);
        log(call, start, 'OK', call.isReplayed ? undefined : call.refusal);
        return result;
      } catch (error) {
        log(call, start, codeName(toPublicError(error).code));
        throw error;
      }
    };
  };
}
