import type { Logger } from 'pino';
import { commonErrors, fail } from './errors.ts';
import type { Interceptor } from './interceptors.ts';

/** How many calls a process works on at once. */
export interface CallLimits {
  /** Unary calls. */
  readonly calls: number;
  /** Streaming calls, counted apart: they are open for long and would use up the other limit. */
  readonly streams: number;
}

const refusalLogMs = 1_000;

/**
 * Admission control: a call past the limit is refused at once with OVERLOADED. A call counts until its
 * handler has ended, also when its caller has left: until then it takes time and a connection.
 */
export function createAdmission(limits: CallLimits, logger: Logger): Interceptor {
  const free = { calls: limits.calls, streams: limits.streams };
  // Made once: with its stack and its details an error costs as much as the rest of a refused call.
  const refusal = fail(commonErrors.overloaded);
  let refused = 0;

  /** At three times the load a line for each refused call would cost more than to refuse it. */
  function countRefusal(): void {
    refused += 1;
    if (refused > 1) return;
    setTimeout(() => {
      logger.warn({ refused, ...limits, reason: commonErrors.overloaded.reason }, 'calls were refused');
      refused = 0;
    }, refusalLogMs).unref();
  }

  return function admission({ method }, next) {
    const kind = method.methodKind === 'unary' ? 'calls' : 'streams';
    return async (call) => {
      if (free[kind] === 0) {
        countRefusal();
        throw refusal;
      }
      free[kind] -= 1;
      try {
        return await next(call);
      } finally {
        free[kind] += 1;
      }
    };
  };
}
