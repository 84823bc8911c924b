import { Code, type ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Authenticator } from '../auth/authenticator.ts';
import type { Call } from './call.ts';
import { fail, toPublicError } from './errors.ts';
import type { Rpc } from './implementation.ts';
import { validate } from './validation.ts';

/** Wraps a call: runs `next` or throws, and answers what `next` answers. */
export type Interceptor = <Answer>(call: Call, rpc: Rpc, next: () => Promise<Answer>) => Promise<Answer>;

export interface InterceptorOptions {
  readonly logger: Logger;
  readonly authenticate: Authenticator;
}

/** The interceptors of both server stacks, outermost first. */
export function createInterceptors({ logger, authenticate }: InterceptorOptions): readonly Interceptor[] {
  return [
    logging(logger), // outermost, so that refused calls are seen
    errors(logger), // inside logging, which then sees what the caller gets
    identity(authenticate), // before the bytes of a stranger are read
    validation, // declared bounds come before the body (design 1)
    staff, // first in the body of the procedures that need it (spec 5)
  ];
}

/** Runs `body` inside the interceptors. Whatever goes wrong is thrown as a public ConnectError. */
export function intercept<Answer>(
  interceptors: readonly Interceptor[],
  call: Call,
  rpc: Rpc,
  body: () => Promise<Answer>,
): Promise<Answer> {
  return interceptors.reduceRight<() => Promise<Answer>>(
    (next, interceptor) => () => interceptor(call, rpc, next),
    body,
  )();
}

/** One line a call; never a token or a body. */
function logging(logger: Logger): Interceptor {
  return async function logging(call, rpc, next) {
    const start = performance.now();
    const log = (code: string) =>
      logger.info(
        {
          method: `${rpc.method.parent.typeName}/${rpc.method.name}`,
          code,
          durationMs: Math.round((performance.now() - start) * 1000) / 1000,
          staffId: call.claimedStaffId,
          requestId: call.requestId,
          protocol: call.protocol,
        },
        'call',
      );
    try {
      const answer = await next();
      log('OK');
      return answer;
    } catch (error) {
      log(codeName(toPublicError(error)));
      throw error;
    }
  };
}

/** The code as gRPC writes it, such as INVALID_ARGUMENT. */
export function codeName(error: ConnectError): string {
  return Code[error.code].replace(/(?<!^)([A-Z])/g, '_$1').toUpperCase();
}

/** Nothing internal passes it. */
function errors(logger: Logger): Interceptor {
  return async function errors(call, _rpc, next) {
    try {
      return await next();
    } catch (thrown) {
      const error = toPublicError(thrown);
      if (error.code === Code.Internal) {
        logger.error({ err: error.cause ?? error, requestId: call.requestId }, 'a call failed');
      }
      throw error;
    }
  };
}

function identity(authenticate: Authenticator): Interceptor {
  return async function identity(call, _rpc, next) {
    call.identity = await authenticate(call.header('authorization'));
    return next();
  };
}

const validation: Interceptor = (call, rpc, next) => {
  validate(rpc.method.input, call.request);
  return next();
};

const staff: Interceptor = async (call, rpc, next) => {
  if (rpc.staffOnly !== undefined && (await call.staffId()) === undefined) throw fail(rpc.staffOnly);
  return next();
};
