import { toPublicError } from '../../errors/errors.ts';
import type { CallMetrics } from '../../telemetry/call-metrics.ts';
import type { Interceptor } from '../interceptor.ts';

/** Counts and times a procedure's calls. */
export function metrics(calls: CallMetrics): Interceptor {
  return function metrics(rpc, next) {
    const byProtocol = calls.of(rpc.method);
    return async (call) => {
      const series = byProtocol[call.protocol];
      const start = performance.now();
      series.begin();
      try {
        const result = await next(call);
        series.end(undefined, performance.now() - start);
        return result;
      } catch (error) {
        series.end(toPublicError(error).code, performance.now() - start);
        throw error;
      }
    };
  };
}
