import type { RpcResponse } from './answers/response.ts';
import type { CallContext } from './call-context.ts';
import type { Rpc } from './implementation.ts';
import { isMutation } from './procedure.ts';

/** Executes a call. Resolves with its result, or rejects. */
export type Execute<Result> = (call: CallContext) => Promise<Result>;

/** Wraps the execution of a procedure's calls. It runs once per procedure at startup. */
export type Interceptor = <Result>(rpc: Rpc, next: Execute<Result>) => Execute<Result>;

/** All interceptors, in the order of docs/architecture.md: the first one outermost. */
export interface Interceptors {
  /** Those of every call. */
  readonly calls: readonly Interceptor[];
  /** Those of mutations, inside of the others. The answer is not encoded yet. */
  readonly mutations: readonly ((rpc: Rpc, next: Execute<RpcResponse>) => Execute<RpcResponse>)[];
}

/** Returns how a unary procedure's calls are executed: they resolve with the response, encoded as the call needs it. */
export function executeUnary({ calls, mutations }: Interceptors, rpc: Rpc): Execute<Buffer> {
  const procedure: Execute<RpcResponse> = (call) => rpc.invoke(call.request, call);
  const answer = isMutation(rpc.method) ? intercept(mutations, rpc, procedure) : procedure;
  return intercept<Buffer>(calls, rpc, async (call) => (await answer(call)).encode(call));
}

/** Returns how a streaming procedure's calls are executed. `send` sends all messages. */
export function executeStream({ calls }: Interceptors, rpc: Rpc, send: Execute<void>): Execute<void> {
  return intercept<void>(calls, rpc, send);
}

function intercept<Result>(
  interceptors: readonly ((rpc: Rpc, next: Execute<Result>) => Execute<Result>)[],
  rpc: Rpc,
  execute: Execute<Result>,
): Execute<Result> {
  return interceptors.reduceRight((next, interceptor) => interceptor(rpc, next), execute);
}
