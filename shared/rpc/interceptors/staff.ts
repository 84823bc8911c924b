import { fail } from '../../errors/errors.ts';
import type { Interceptor } from '../implementation.ts';

/** Rejects callers without a staff identity, for procedures that require one before their body (spec 5). */
export const staff: Interceptor = function staff({ noStaffError }, next) {
  if (noStaffError === undefined) return next;
  return async (call) => {
    if ((await call.staffId()) === undefined) throw fail(noStaffError);
    return next(call);
  };
};
