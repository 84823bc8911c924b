import type { Authenticator } from '../../auth/authenticator.ts';
import type { Interceptor } from '../interceptor.ts';

/** Verifies the credential. Throws UNAUTHENTICATED `Authentication required`. */
export function identity(authenticator: Authenticator): Interceptor {
  return function identity(_rpc, next) {
    return async (call) => {
      call.identity = await authenticator.authenticate(call.header('authorization'));
      return next(call);
    };
  };
}
