import type { Authenticator } from '../../auth/authenticator.ts';
import type { Identity } from '../../auth/identity.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../interceptor.ts';

/** Verifies the credential. Throws UNAUTHENTICATED `Authentication required`. */
export function identity(authenticate: Authenticator): Interceptor {
  return function identity(_rpc, next) {
    const identify = (call: CallContext, known: Identity) => {
      call.identity = known;
      return next(call);
    };
    return (call) => {
      // Known at once for a token that was seen before.
      const known = authenticate(call.header('authorization'));
      return known instanceof Promise ? known.then((identity) => identify(call, identity)) : identify(call, known);
    };
  };
}
