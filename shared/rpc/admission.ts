import type { Logger } from 'pino';
import type { Call } from './call.ts';
import { commonErrors, fail } from './errors.ts';
import type { Interceptor } from './interceptors.ts';

/** How many calls a process works on at once. */
export interface CallLimits {
  /** Unary calls. */
  readonly calls: number;
  /** Streaming calls, counted apart: they are open for long and would use up the other limit. */
  readonly streams: number;
}

export interface Admission {
  readonly interceptor: Interceptor;
  /** Ends all calls in flight with STOPPING, which tells their callers to try another server. */
  end(): void;
}

const refusalLogMs = 1_000;

/**
 * Admission control: a call past the limit is refused at once with OVERLOADED. A call counts until its
 * handler has ended, also when its caller has left: until then it takes time and a connection.
 */
export function createAdmission(limits: CallLimits, logger: Logger): Admission {
  const inFlight = { calls: new Set<Call>(), streams: new Set<Call>() };
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

  const interceptor: Interceptor = function admission({ method }, next) {
    const kind = method.methodKind === 'unary' ? 'calls' : 'streams';
    const admitted = inFlight[kind];
    const limit = limits[kind];
    return async (call) => {
      if (admitted.size >= limit) {
        countRefusal();
        throw refusal;
      }
      admitted.add(call);
      try {
        return await next(call);
      } finally {
        admitted.delete(call);
      }
    };
  };

  return {
    interceptor,
    end() {
      for (const calls of Object.values(inFlight)) {
        for (const { signal } of calls) signal.abort(() => fail(commonErrors.stopping));
      }
    },
  };
}
