import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useTransport } from '@connectrpc/connect-query';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createKey } from '../../../client/connect/idempotency.ts';
import { describeFailure, type Failure } from './failure.ts';
import { readAgain } from './write.ts';

/** What became of several requests. */
export interface SentEach<Answer> {
  readonly answers: readonly Answer[];
  /** Of the requests that failed. */
  readonly failures: readonly Failure[];
  /** Set after slot writes: of the last one. */
  readonly storeRequestId: string | undefined;
}

/**
 * Lets a component call a mutation that the services have for one record only, for many of them: one after another, each
 * with an idempotency key of its own. Afterwards everything on the page is read again. Never rejects.
 */
export function useWriteEach<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>) {
  const transport = useTransport();
  const queryClient = useQueryClient();
  const [isPending, setIsPending] = useState(false);
  const { mutateAsync } = useMutation({
    mutationFn: ({ request, key }: { request: MessageInitShape<I>; key: string }) =>
      transport.unary(method, undefined, undefined, { 'idempotency-key': key }, request, undefined),
  });
  const send = async (requests: readonly MessageInitShape<I>[]): Promise<SentEach<MessageShape<O>>> => {
    setIsPending(true);
    const answers: MessageShape<O>[] = [];
    const failures: Failure[] = [];
    let storeRequestId: string | undefined;
    for (const request of requests) {
      try {
        const { message, header } = await mutateAsync({ request, key: createKey() });
        answers.push(message);
        storeRequestId = header.get('store-request-id') ?? storeRequestId;
      } catch (error) {
        failures.push(describeFailure(error));
      }
    }
    await readAgain(queryClient);
    setIsPending(false);
    return { answers, failures, storeRequestId };
  };
  return { send, isPending };
}
