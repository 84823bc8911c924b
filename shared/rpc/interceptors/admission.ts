import type { Logger } from 'pino';
import { commonErrors, fail } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../interceptor.ts';

/** How many calls a process executes at once. */
export interface CallLimits {
  /** Unary calls. */
  readonly calls: number;
  /** Streaming calls: they stay open for long, and would use up a common limit. */
  readonly streams: number;
}

export interface Admission {
  readonly interceptor: Interceptor;
  /** Aborts all calls in flight with STOPPING, which tells their callers to try another server. */
  end(): void;
}

const logIntervalMs = 1_000;

/**
 * A semaphore that knows its calls in flight. They are kept in an array by the number of their permit: a
 * Set that calls join and leave all the time would be rehashed again and again.
 */
class Semaphore {
  readonly inFlight: (CallContext | undefined)[] = [];
  readonly #permits: number[];

  constructor(count: number) {
    this.#permits = Array.from({ length: count }, (_, index) => count - 1 - index);
  }

  /** Takes a permit for a call; undefined when all are taken. */
  acquire(call: CallContext): number | undefined {
    const permit = this.#permits.pop();
    if (permit !== undefined) this.inFlight[permit] = call;
    return permit;
  }

  release(permit: number): void {
    this.inFlight[permit] = undefined;
    this.#permits.push(permit);
  }
}

/**
 * Admission control: rejects a call beyond the limit at once with OVERLOADED. A call counts until its
 * handler has ended, even when its caller has disconnected, because it occupies the processor and a
 * database connection until then.
 */
export function createAdmission(limits: CallLimits, logger: Logger): Admission {
  const semaphores = { calls: new Semaphore(limits.calls), streams: new Semaphore(limits.streams) };
  // Created once: an error with its stack and details costs as much as the rest of a rejected call.
  const overloaded = fail(commonErrors.overloaded);
  let refused = 0;

  /** Logs once a second: at three times the load, a line for each call would cost more than rejecting it. */
  function countRejection(): void {
    refused += 1;
    if (refused > 1) return;
    setTimeout(() => {
      logger.warn({ refused, ...limits, reason: commonErrors.overloaded.reason }, 'calls were refused');
      refused = 0;
    }, logIntervalMs).unref();
  }

  const interceptor: Interceptor = function admission({ method }, next) {
    const semaphore = semaphores[method.methodKind === 'unary' ? 'calls' : 'streams'];
    return async (call) => {
      const permit = semaphore.acquire(call);
      if (permit === undefined) {
        countRejection();
        throw overloaded;
      }
      try {
        return await next(call);
      } finally {
        semaphore.release(permit);
      }
    };
  };

  return {
    interceptor,
    end() {
      for (const call of [...semaphores.calls.inFlight, ...semaphores.streams.inFlight]) {
        call?.signal.abort(() => fail(commonErrors.stopping));
      }
    },
  };
}
