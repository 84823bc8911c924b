import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';

/** A bearer token, or a function that returns one for each call, or undefined for a call without a token. */
export type Token = string | (() => string | undefined | Promise<string | undefined>);

/**
 * Creates an interceptor that sends the token as `authorization: Bearer ...`. It waits for the token until
 * the call's deadline. The call fails with the token function's error, and with UNAUTHENTICATED if the token
 * can't be sent in a header.
 */
export function sendToken(token: Token): Interceptor {
  return (next) => async (request) => {
    const value = typeof token === 'string' ? token : await untilAborted(token, request.signal);
    if (value !== undefined) {
      // Checked here, because the error of `Headers` would quote the token.
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
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  return Promise.race([work(), aborted]);
}
