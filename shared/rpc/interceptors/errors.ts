import { Code } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { toPublicError } from '../../errors/errors.ts';
import type { Interceptor } from '../interceptor.ts';

/** Converts anything that is thrown into an error that a caller may see, and logs unexpected ones. */
export function errors(logger: Logger): Interceptor {
  return function errors(_rpc, next) {
    return async (call) => {
      try {
        return await next(call);
      } catch (thrown) {
        const error = toPublicError(thrown);
        if (error.code === Code.Internal) {
          logger.error({ err: error.cause ?? error, requestId: call.requestId }, 'a call failed');
        }
        throw error;
      }
    };
  };
}
