import { durationMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { toPublicError } from '../../errors/errors.ts';
import { RetryInfoSchema } from '../../gen/google/rpc/error_details_pb.ts';
import type { Interceptor } from '../implementation.ts';
import { withJsonNames } from '../json-names.ts';

/**
 * Converts anything thrown into an error that a caller may see, in the names of its request, and logs unexpected errors.
 * A 401 of the web port gets the challenge that HTTP requires (RFC 6750). An error with a `google.rpc.RetryInfo` says
 * there in HTTP's way, too, when to try again.
 */
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
        if (error.code === Code.Unauthenticated && call.protocol === 'connect') {
          const isGiven = call.header('authorization') !== undefined;
          call.responseHeaders.set('www-authenticate', isGiven ? 'Bearer error="invalid_token"' : 'Bearer');
        }
        const [retry] = error.findDetails(RetryInfoSchema);
        if (retry?.retryDelay && call.protocol !== 'grpc') {
          call.responseHeaders.set('retry-after', String(Math.ceil(durationMs(retry.retryDelay) / 1_000)));
        }
        throw call.requestCodec === 'json' ? withJsonNames(error, call.method.input) : error;
      }
    };
  };
}
