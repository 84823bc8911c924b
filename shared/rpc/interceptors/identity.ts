import type { Authenticator } from '../../auth/authenticator.ts';
import type { Interceptor } from '../interceptor.ts';

/** Verifies the credential. Throws UNAUTHENTICATED `Authentication required`. */
export function identity(authenticate: Authenticator): Interceptor {
  return function identity(_rpc, next) {
    return async (call) => {
      call.identity = await authenticate(call.header('authorization'));
      return next(call);
    };
  };
}
