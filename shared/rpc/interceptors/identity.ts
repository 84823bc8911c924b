import { Code, ConnectError } from '@connectrpc/connect';
import type { Authenticator } from '../../auth/authenticator.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../interceptor.ts';

const recheckMs = 1_000;

/**
 * Verifies the credential. Throws UNAUTHENTICATED `Authentication required`, and ends a stream with it
 * once its token has expired or its key is revoked.
 */
export function identity({ authenticate }: Authenticator): Interceptor {
  async function recheck(call: CallContext): Promise<void> {
    try {
      await authenticate(call.header('authorization'));
    } catch (error) {
      // While the keys can't be fetched, nobody knows that the token is bad.
      if (error instanceof ConnectError && error.code === Code.Unauthenticated) call.signal.abort(() => error);
    }
  }

  return function identity({ method }, next) {
    const isUnary = method.methodKind === 'unary';
    return async (call) => {
      call.identity = await authenticate(call.header('authorization'));
      if (isUnary) return next(call);
      const timer = setInterval(() => void recheck(call), recheckMs);
      try {
        return await next(call);
      } finally {
        clearInterval(timer);
      }
    };
  };
}
