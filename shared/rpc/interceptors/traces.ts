import type { Tracing } from '../../telemetry/tracing.ts';
import type { Interceptor } from '../implementation.ts';

/** Runs each call in its own span. */
export function traces(tracing: Tracing): Interceptor {
  return function traces({ method }, next) {
    return (call) => tracing.call(method, call, () => next(call));
  };
}
