import { commonErrors, fail } from '../../errors/errors.ts';
import { FairQueue } from '../../fairness/fair-queue.ts';
import { FairShare } from '../../fairness/fair-share.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { CallContext } from '../call-context.ts';
import type { Execute, Interceptor } from '../implementation.ts';
import { maxWaitingCalls, smallResponseBytes } from '../limits/limits.ts';
import { type OpenRequests, UnorderedList } from '../limits/open-requests.ts';

/** How many calls a process executes concurrently. */
export interface CallLimits {
  /** Unary calls. */
  readonly calls: number;
  /** Streaming calls. They stay open for long, and would use up a shared limit. */
  readonly streams: number;
}

export interface Admission {
  readonly interceptor: Interceptor;
  registerMetrics(metrics: Metrics): void;
  /** Aborts all calls in flight with STOPPING, so that their callers try another server. */
  end(): void;
}

/**
 * Admission control. A unary call waits in its caller's queue for a permit to execute. It keeps the permit
 * until its handler ends or releases it, even if the caller disconnects, because until then it uses the processor and
 * the database. A stream is refused once its caller has its share of streams.
 */
export function createAdmission(limits: CallLimits, requests: OpenRequests): Admission {
  const queue = new FairQueue(limits.calls, maxWaitingCalls);
  const streams = new FairShare(limits.streams);
  const inFlight = new UnorderedList<CallContext>();
  // Created once, because an error with its stack and details costs as much as the rest of a rejected call.
  const overloaded = fail(commonErrors.overloaded);
  const tooManyStreams = fail(commonErrors.tooManyStreams);

  const interceptor: Interceptor = function admission({ method }, next) {
    const execute = method.methodKind === 'unary' ? executeUnary : executeStream;
    return (call) => execute(call, next);
  };

  async function executeUnary<Result>(call: CallContext, next: Execute<Result>): Promise<Result> {
    inFlight.add(call);
    let isHeld = false;
    call.takePermit = () => {
      isHeld ||= queue.tryTake(call.subject);
      if (isHeld) return undefined;
      return queue.take(call).then((isTaken) => {
        if (!isTaken) throw overloaded;
        isHeld = true;
      });
    };
    call.releasePermit = () => {
      if (isHeld) queue.release(call.subject);
      isHeld = false;
    };
    try {
      await call.takePermit();
      const result = await next(call);
      const bytes = sizeOf(result);
      if (bytes > smallResponseBytes && !(await requests.untilRead(call, bytes))) {
        throw fail(commonErrors.tooManyUnreadBytes);
      }
      return result;
    } finally {
      call.releasePermit();
      inFlight.delete(call);
    }
  }

  async function executeStream<Result>(call: CallContext, next: Execute<Result>): Promise<Result> {
    const { subject } = call.identity;
    if (!streams.take(subject)) throw tooManyStreams;
    inFlight.add(call);
    try {
      return await next(call);
    } finally {
      inFlight.delete(call);
      streams.release(subject);
    }
  }

  return {
    interceptor,
    registerMetrics(metrics) {
      metrics.gauge('rpc_server_waiting', 'Calls that wait for a permit to execute.', () => queue.waiting);
    },
    end() {
      for (const call of [...inFlight.items]) call.signal.abort(() => fail(commonErrors.stopping));
    },
  };
}

/** The size of an encoded result; 0 for a message. */
function sizeOf(result: unknown): number {
  return result instanceof Uint8Array || typeof result === 'string' ? result.length : 0;
}
