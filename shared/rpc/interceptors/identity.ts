import { Code, ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator.ts';
import { logRefusals } from '../../auth/refusals.ts';
import { fail } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../implementation.ts';

const recheckMs = 1_000;

/**
 * Verifies the credential. Throws UNAUTHENTICATED `Authentication required`. Ends a stream with the same error once its
 * token expires or its key is revoked. The log has the reason.
 */
export function identity({ authenticate }: Authenticator, logger: Logger): Interceptor {
  const logRefusal = logRefusals(logger);

  /**
   * Whether an error means that the token is refused. If so, logs the reason. A failure to fetch the keys does not
   * count, because the token may be valid.
   */
  function logIfRefused(call: CallContext, error: unknown): error is ConnectError {
    if (!(error instanceof ConnectError) || error.code !== Code.Unauthenticated) return false;
    if (error.cause !== undefined) logRefusal(error.cause, call.requestId);
    return true;
  }

  async function recheck(call: CallContext): Promise<void> {
    try {
      await authenticate(call.header('authorization'));
    } catch (error) {
      if (logIfRefused(call, error)) call.signal.abort(() => error);
    }
  }

  return function identity({ method }, next) {
    const isUnary = method.methodKind === 'unary';
    return async (call) => {
      try {
        call.identity = await authenticate(call.header('authorization'));
      } catch (error) {
        logIfRefused(call, error);
        throw error;
      }
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

/** Rejects callers without a staff identity, for procedures that require one before their body (spec 5). */
export const staff: Interceptor = function staff({ noStaffError }, next) {
  if (noStaffError === undefined) return next;
  return async (call) => {
    if ((await call.staffId()) === undefined) throw fail(noStaffError);
    return next(call);
  };
};
