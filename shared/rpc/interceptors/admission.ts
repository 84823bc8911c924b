import type { Logger } from 'pino';
import { commonErrors, fail } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../interceptor.ts';

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

/** Numbered, because a set that calls come to and leave all the time is made anew every so often. */
class Places {
  readonly inFlight: (CallContext | undefined)[] = [];
  readonly free: number[];

  constructor(count: number) {
    this.free = Array.from({ length: count }, (_, place) => count - 1 - place);
  }
}

/**
 * Admission control: a call past the limit is refused at once with OVERLOADED. A call counts until its
 * handler has ended, also when its caller has left: until then it takes time and a connection.
 */
export function createAdmission(limits: CallLimits, logger: Logger): Admission {
  const places = { calls: new Places(limits.calls), streams: new Places(limits.streams) };
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
    const { inFlight, free } = places[kind];
    return async (call) => {
      const place = free.pop();
      if (place === undefined) {
        countRefusal();
        throw refusal;
      }
      inFlight[place] = call;
      try {
        return await next(call);
      } finally {
        inFlight[place] = undefined;
        free.push(place);
      }
    };
  };

  return {
    interceptor,
    end() {
      for (const call of [...places.calls.inFlight, ...places.streams.inFlight]) {
        call?.signal.abort(() => fail(commonErrors.stopping));
      }
    },
  };
}
