import type { CallContext } from './call-context.ts';
import type { Rpc } from './implementation.ts';

/** Answers a call, or throws. */
export type Handle<Answer> = (call: CallContext) => Promise<Answer>;

/** Wraps the handling of a procedure's calls. It is made once a procedure, so that a call costs little. */
export type Interceptor = <Answer>(rpc: Rpc, next: Handle<Answer>) => Handle<Answer>;

/**
 * Puts a procedure's handling inside the interceptors, the first of them outermost. The result throws
 * nothing but public ConnectErrors.
 */
export function intercept<Answer>(
  interceptors: readonly Interceptor[],
  rpc: Rpc,
  handle: Handle<Answer>,
): Handle<Answer> {
  return interceptors.reduceRight((next, interceptor) => interceptor(rpc, next), handle);
}
