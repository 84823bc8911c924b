import { fail } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../interceptor.ts';

/** Rejects callers without a staff identity, for procedures that require one before their body (spec 5). */
export const staff: Interceptor = function staff({ staffOnly }, next) {
  if (staffOnly === undefined) return next;
  const check = (call: CallContext, staffId: number | undefined) => {
    if (staffId === undefined) throw fail(staffOnly);
    return next(call);
  };
  return (call) => {
    const staffId = call.staffId();
    return staffId instanceof Promise ? staffId.then((found) => check(call, found)) : check(call, staffId);
  };
};
