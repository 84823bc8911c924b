import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { CallSignal } from '../../shared/cancellation/signal.ts';
import { CallContext } from '../../shared/rpc/call-context.ts';
import { EncodedResponse } from '../../shared/rpc/protobuf/encoding.ts';

/** A call of a staff user without headers and without an end, for a handler that is called in this process. */
export function staffCall(method: DescMethod, staffId = 1): CallContext {
  const call = new CallContext({
    method,
    protocol: 'grpc',
    codec: 'proto',
    hasDeadline: true,
    header: () => undefined,
    openSignal: () => new CallSignal(),
    decode: () => create(method.input),
  });
  call.identity = {
    subject: 'test',
    claimedStaffId: staffId,
    staffId: async () => staffId,
  };
  return call;
}

/** What a handler answered with, as a message. */
export async function responseOf<Output extends DescMessage>(
  method: DescMethodUnary<DescMessage, Output>,
  answer: MessageInitShape<Output> | EncodedResponse<Output>,
): Promise<MessageShape<Output>> {
  return answer instanceof EncodedResponse ? answer.toMessage({}) : create(method.output, answer);
}
