import type { Authenticator } from '../../auth/authenticator.ts';
import type { Identity } from '../../auth/identity.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../interceptor.ts';

/** Verifies the credential. Throws UNAUTHENTICATED `Authentication required`. */
export function identity(authenticate: Authenticator): Interceptor {
  return function identity(_rpc, next) {
    const identify = (call: CallContext, caller: Identity) => {
      call.identity = caller;
      return next(call);
    };
    return (call) => {
      // A token that was verified before gives its identity without a promise.
      const caller = authenticate(call.header('authorization'));
      return caller instanceof Promise ? caller.then((verified) => identify(call, verified)) : identify(call, caller);
    };
  };
}
