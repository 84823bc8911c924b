import { create, type DescMessage, type DescMethod, type DescMethodUnary, type MessageShape } from '@bufbuild/protobuf';
import { CallSignal } from '../../shared/cancellation/signal.ts';
import type { Answer } from '../../shared/rpc/answers/answer.ts';
import { AnswerResponse, RpcResponse } from '../../shared/rpc/answers/response.ts';
import { CallContext } from '../../shared/rpc/call-context.ts';

/** A call of a staff user without headers and without an end, for a handler that is called in this process. */
export function staffCall(method: DescMethod, staffId = 1): CallContext {
  const call = new CallContext({
    method,
    protocol: 'grpc',
    codec: 'proto',
    requestCodec: 'proto',
    hasDeadline: true,
    requestBytes: 0,
    header: () => undefined,
    openSignal: () => new CallSignal(),
    decode: () => create(method.input),
  });
  call.identity = { subject: 'test', claimedStaffId: staffId, staffId: async () => staffId };
  return call;
}

/** What a handler answered with, as a message. */
export async function responseOf<Output extends DescMessage>(
  method: DescMethodUnary<DescMessage, Output>,
  answer: Answer<Output> | RpcResponse<Output>,
): Promise<MessageShape<Output>> {
  const response = answer instanceof RpcResponse ? answer : new AnswerResponse(method.output, answer);
  return response.toMessage(undefined);
}
