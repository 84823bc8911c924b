import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';

/** A bearer token, or what gives one for each call; undefined sends none. */
export type Token = string | (() => string | undefined | Promise<string | undefined>);

/**
 * Sends the token as `authorization: Bearer ...`. Waits for it no longer than the call may take. A
 * call fails with what the function threw, or UNAUTHENTICATED when the token can't be a header.
 */
export function sendToken(token: Token): Interceptor {
  return (next) => async (request) => {
    const value = typeof token === 'string' ? token : await untilAborted(token, request.signal);
    if (value !== undefined) {
      // What checks header values quotes them in its error.
      if (!/^[\x21-\x7e]+$/.test(value)) {
        throw new ConnectError('the token is empty or has characters that no header takes', Code.Unauthenticated);
      }
      request.header.set('authorization', `Bearer ${value}`);
    }
    return next(request);
  };
}

async function untilAborted<Result>(work: () => Result | Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}
