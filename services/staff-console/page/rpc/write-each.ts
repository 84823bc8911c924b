import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { isTransient } from '../../../client/connect/errors.ts';
import { createKey } from '../../../client/connect/idempotency.ts';
import { describeFailure, type Failure } from './failure.ts';
import { readAgain, textOf, useCall } from './write.ts';

/** What became of several requests. */
export interface SentEach<Request, Answer> {
  readonly answers: readonly Answer[];
  /** Those that failed, or were not sent any more because the service can't be reached. */
  readonly failed: readonly Request[];
  readonly refused: readonly { readonly request: Request; readonly failure: Failure }[];
  readonly failure: Failure | undefined;
  /** Set after slot writes: of the last one. */
  readonly storeRequestId: string | undefined;
}

/** Like `useWrite`, for many requests, one after another. `onDone` is called before each with how many were sent. */
export function useWriteEach<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>) {
  const queryClient = useQueryClient();
  const keys = useRef(new Map<string, string>());
  const { mutateAsync } = useMutation({ mutationFn: useCall(method) });
  return async <Request extends MessageInitShape<I>>(
    requests: readonly Request[],
    onDone?: (count: number) => void,
  ): Promise<SentEach<Request, MessageShape<O>>> => {
    const answers: MessageShape<O>[] = [];
    const refused: { request: Request; failure: Failure }[] = [];
    let unsent: readonly Request[] = [];
    let storeRequestId: string | undefined;
    for (const [done, request] of requests.entries()) {
      onDone?.(done);
      const text = textOf(method, request);
      const key = keys.current.get(text) ?? createKey();
      keys.current.set(text, key);
      try {
        const { message, header } = await mutateAsync({ request, key });
        keys.current.delete(text);
        answers.push(message);
        storeRequestId = header.get('store-request-id') ?? storeRequestId;
      } catch (error) {
        refused.push({ request, failure: describeFailure(error) });
        if (isTransient(error)) {
          unsent = requests.slice(done + 1);
          break;
        }
      }
    }
    await readAgain(queryClient);
    const failed = [...refused.map(({ request }) => request), ...unsent];
    return { answers, failed, refused, failure: refused[0]?.failure, storeRequestId };
  };
}
