import { Code, ConnectError } from '@connectrpc/connect';
import { CallSignal } from '../../cancellation/signal.ts';
import { commonErrors, fail } from '../../errors/errors.ts';
import { capGrpcTimeout } from '../limits/grpc-timeout.ts';
import { maxTimerMs } from '../limits/limits.ts';

/** The values that the protocol allows for `connect-timeout-ms`. */
export const connectTimeoutPattern = /^\d{1,10}$/;

/** Whether a Connect or gRPC-Web request has a timeout. */
export function hasTimeout(header: Headers): boolean {
  return header.has('connect-timeout-ms') || header.has('grpc-timeout');
}

/**
 * Caps a timeout at the longest delay of a timer: connect-node would end a longer one at once. Returns undefined for a
 * value that is no timeout.
 */
export function capTimeout(name: 'connect-timeout-ms' | 'grpc-timeout', value: string): string | undefined {
  if (name === 'grpc-timeout') return capGrpcTimeout(value);
  return connectTimeoutPattern.test(value) ? String(Math.min(Number(value), maxTimerMs)) : undefined;
}

/**
 * Converts connect-node's signal of a call. connect-node's reason is the error that ended the connection. Ours is
 * either the deadline or the disconnect.
 */
export function toCallSignal(from: AbortSignal): CallSignal {
  const signal = new CallSignal();
  const abort = () =>
    signal.abort(() => {
      const isLate = ConnectError.from(from.reason).code === Code.DeadlineExceeded;
      return fail(isLate ? commonErrors.deadlineExceeded : commonErrors.canceled);
    });
  if (from.aborted) abort();
  else from.addEventListener('abort', abort, { once: true });
  return signal;
}
