import type { CallContext } from './call-context.ts';
import type { Rpc } from './implementation.ts';

/** Executes a call: resolves with its result, or rejects. */
export type Handle<Result> = (call: CallContext) => Promise<Result>;

/**
 * Wraps the handling of a procedure's calls. It runs once per procedure, at the start, so that each
 * call pays only for the handle that it returns.
 */
export type Interceptor = <Result>(rpc: Rpc, next: Handle<Result>) => Handle<Result>;

/**
 * Wraps a procedure's handle in the interceptors, the first one outermost. With all of them, the result
 * rejects with public ConnectErrors only.
 */
export function intercept<Result>(
  interceptors: readonly Interceptor[],
  rpc: Rpc,
  handle: Handle<Result>,
): Handle<Result> {
  return interceptors.reduceRight((next, interceptor) => interceptor(rpc, next), handle);
}
