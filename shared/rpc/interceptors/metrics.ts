import { toPublicError } from '../../errors/errors.ts';
import type { CallMetrics } from '../../telemetry/call-metrics.ts';
import type { Interceptor } from '../implementation.ts';

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
