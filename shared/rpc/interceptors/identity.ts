import { Code, ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator.ts';
import type { Identity } from '../../auth/identity.ts';
import { logRefusals } from '../../auth/refusals.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../interceptor.ts';

const recheckMs = 1_000;

/**
 * Verifies the credential. Throws UNAUTHENTICATED `Authentication required`, and ends a stream with it
 * once its token has expired or its key is revoked. The log then has the reason.
 */
export function identity({ authenticate }: Authenticator, logger: Logger): Interceptor {
  const logRefusal = logRefusals(logger);

  async function identify(call: CallContext): Promise<Identity> {
    try {
      return await authenticate(call.header('authorization'));
    } catch (error) {
      if (isRefusal(error) && error.cause !== undefined) logRefusal(error.cause, call.requestId);
      throw error;
    }
  }

  async function recheck(call: CallContext): Promise<void> {
    try {
      await identify(call);
    } catch (error) {
      // While the keys can't be fetched, nobody knows that the token is bad.
      if (isRefusal(error)) call.signal.abort(() => error);
    }
  }

  return function identity({ method }, next) {
    const isUnary = method.methodKind === 'unary';
    return async (call) => {
      call.identity = await identify(call);
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

function isRefusal(error: unknown): error is ConnectError {
  return error instanceof ConnectError && error.code === Code.Unauthenticated;
}
