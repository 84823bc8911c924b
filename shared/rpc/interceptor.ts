import type { CallContext } from './call-context.ts';
import type { Rpc } from './implementation.ts';

/** Executes a call. Resolves with its result, or rejects. */
export type Execute<Result> = (call: CallContext) => Promise<Result>;

/**
 * Wraps the handling of a procedure's calls. It runs once per procedure at startup, so that a call pays
 * only for the returned handle.
 */
export type Interceptor = <Result>(rpc: Rpc, next: Execute<Result>) => Execute<Result>;

/**
 * Wraps a procedure's handle in interceptors, the first one outermost. With all interceptors, the result rejects only
 * with public ConnectErrors.
 */
export function intercept<Result>(
  interceptors: readonly Interceptor[],
  rpc: Rpc,
  handle: Execute<Result>,
): Execute<Result> {
  return interceptors.reduceRight((next, interceptor) => interceptor(rpc, next), handle);
}
