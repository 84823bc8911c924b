import { Code, ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Authenticator, Identity } from '../../auth/authenticator.ts';
import { logRefusals } from '../../auth/refusals.ts';
import { fail } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../implementation.ts';

const recheckMs = 1_000;
const recheckTimeoutMs = 5_000;

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

/** The lookups in progress. All streams of an identity share one. */
const lookups = new Map<Identity, Promise<number | undefined>>();

/**
 * Rejects callers without a staff identity, for procedures that require one before their body (spec 5). Ends a stream
 * with the same error once its staff user is disabled.
 */
export const staff: Interceptor = function staff({ method, noStaffError }, next) {
  if (noStaffError === undefined) return next;
  const isUnary = method.methodKind === 'unary';
  const recheck = async (call: CallContext) => {
    const { identity } = call;
    const lookup = lookups.get(identity) ?? identity.staffId({ signal: AbortSignal.timeout(recheckTimeoutMs) });
    lookups.set(identity, lookup);
    // A failure to look the staff user up does not count.
    const isStaff = await lookup.then(
      (id) => id !== undefined,
      () => true,
    );
    lookups.delete(identity);
    if (!isStaff) call.signal.abort(() => fail(noStaffError));
  };
  return async (call) => {
    if ((await call.staffId()) === undefined) throw fail(noStaffError);
    if (isUnary) return next(call);
    const timer = setInterval(() => void recheck(call), recheckMs);
    try {
      return await next(call);
    } finally {
      clearInterval(timer);
    }
  };
};
