import type { Logger } from 'pino';
import { codeName, toPublicError } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import type { Interceptor } from '../implementation.ts';
import { procedureName } from '../procedure.ts';

/** Logs one line per call: caller, procedure, code and duration. It never logs a token or a message. */
export function logging(logger: Logger): Interceptor {
  return function logging(rpc, next) {
    const method = procedureName(rpc.method);
    const log = (call: CallContext, start: number, code: string) => {
      const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
      const { subject: sub, claimedStaffId: staffId, requestId, traceId, protocol } = call;
      logger.info({ method, code, durationMs, sub, staffId, requestId, traceId, protocol }, 'call');
    };
    return async (call) => {
      const start = performance.now();
      try {
        const result = await next(call);
        log(call, start, 'OK');
        return result;
      } catch (error) {
        log(call, start, codeName(toPublicError(error).code));
        throw error;
      }
    };
  };
}
