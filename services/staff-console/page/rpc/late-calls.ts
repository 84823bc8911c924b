import type { Interceptor } from '@connectrpc/connect';
import { Signal } from '../session/signal.ts';

// Nobody should wait longer than this without being told.
const patienceMs = 5_000;

/** The calls that have had no answer for five seconds. One that is aborted fails with the code CANCELED. */
export const lateCalls = new Signal<readonly AbortController[]>([]);

/** Finds the calls that are late. A stream has no answer for as long as nothing changes. */
export const watchLateCalls: Interceptor = (next) => async (request) => {
  if (request.stream) return next(request);
  request.signal.throwIfAborted();
  // The oldest browsers that the console works in have no `AbortSignal.any`.
  const call = new AbortController();
  request.signal.addEventListener('abort', () => call.abort());
  const timer = setTimeout(() => lateCalls.set([...lateCalls.get(), call]), patienceMs);
  try {
    return await next({ ...request, signal: call.signal });
  } finally {
    clearTimeout(timer);
    lateCalls.set(lateCalls.get().filter((each) => each !== call));
  }
};
