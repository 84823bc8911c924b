import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';

/** Calls a procedure that reads, outside of rendering. Rejects as the call does. */
export type LookUp = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
) => Promise<MessageShape<O>>;

/** Returns a function that looks something up when staff ask for it. */
export function useLookUp(): LookUp {
  const transport = useTransport();
  const queryClient = useQueryClient();
  return (method, request) => queryClient.fetchQuery(createQueryOptions(method, request, { transport }));
}
