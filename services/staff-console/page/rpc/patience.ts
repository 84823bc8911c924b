import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';

// Nobody should wait longer than this without being told.
const patienceMs = 5_000;

const late = new Set<AbortController>();
const listeners = new Set<() => void>();

/** Whether a call has had no answer for five seconds. */
export const isWaiting = (): boolean => late.size > 0;

/** Calls the listener whenever `isWaiting` may have changed. Returns a function that ends this. */
export function subscribeToWaiting(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Ends the calls that have had no answer for five seconds. They fail with the code CANCELED. */
export function giveUp(): void {
  for (const call of late) call.abort();
}

/** Lets staff end a call that has no answer. A stream has no answer for as long as nothing changes. */
export const endIfGivenUp: Interceptor = (next) => async (request) => {
  if (request.stream) return next(request);
  const call = new AbortController();
  const timer = setTimeout(() => tell(() => late.add(call)), patienceMs);
  try {
    return await next({ ...request, signal: AbortSignal.any([request.signal, call.signal]) });
  } catch (error) {
    throw call.signal.aborted ? new ConnectError('Given up', Code.Canceled) : error;
  } finally {
    clearTimeout(timer);
    if (late.has(call)) tell(() => late.delete(call));
  }
};

function tell(change: () => void): void {
  change();
  for (const listener of listeners) listener();
}
