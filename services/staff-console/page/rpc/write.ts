import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
  toJsonString,
} from '@bufbuild/protobuf';
import { useTransport } from '@connectrpc/connect-query';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { isTransient } from '../../../client/connect/errors.ts';
import { createKey } from '../../../client/connect/idempotency.ts';
import { words } from '../words.ts';
import { describeFailure, type Failure } from './failure.ts';
import { type Notice, notify } from './notices.ts';

// After this time, a successful write is reported even if an unrelated service does not answer the reads that follow.
const longestReadMs = 3_000;

/** A mutation, as a component uses it. */
export interface Write<I extends DescMessage, O extends DescMessage> {
  /** Sends the request. Resolves with the answer once the page shows the change, or with the failure. Never rejects. */
  send(request: MessageInitShape<I>): Promise<Sent<MessageShape<O>>>;
  readonly isPending: boolean;
  readonly failure: Failure | undefined;
  reset(): void;
}

export type Sent<Answer> =
  | { readonly answer: Answer; readonly failure?: undefined }
  | { readonly answer?: undefined; readonly failure: Failure };

interface Attempt<Answer> {
  readonly text: string;
  readonly key: string;
  sent?: Promise<Sent<Answer>> | undefined;
}

/**
 * Lets a component call a mutation. A request keeps its idempotency key until it has succeeded (design 9), so it is
 * executed once, even after a double click or a lost connection. Afterwards everything on the page is read again.
 *
 * @param done returns the notice that says what was done; none if the answer is a refusal.
 * @param reported names the record of a button that has no place for a failure: a notice then reports it.
 */
export function useWrite<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  done: (answer: MessageShape<O>) => Notice | undefined,
  reported?: string,
): Write<I, O> {
  const queryClient = useQueryClient();
  const mutationFn = useCall(method);
  const attempt = useRef<Attempt<MessageShape<O>>>(undefined);
  const isOnPage = useRef(true);
  useEffect(() => {
    isOnPage.current = true;
    return () => {
      isOnPage.current = false;
    };
  }, []);
  const { mutateAsync, isPending, error, reset } = useMutation({
    mutationFn,
    onSuccess: async ({ message, header }) => {
      const notice = done(message);
      const storeRequestId = header.get('store-request-id') ?? undefined;
      if (notice !== undefined) notify({ ...notice, about: reported, storeRequestId });
      await readAgain(queryClient);
    },
  });
  const sendOnce = async (request: MessageInitShape<I>, made: Attempt<MessageShape<O>>) => {
    try {
      const { message } = await mutateAsync({ request, key: made.key });
      if (attempt.current === made) attempt.current = undefined;
      return { answer: message };
    } catch (error) {
      const failure = describeFailure(error);
      const subject = reported ?? (isOnPage.current ? undefined : words.failures.leftUnsaved);
      if (subject !== undefined) notify({ text: `${subject}: ${failure.title}. ${failure.advice}`, isProblem: true });
      return { failure };
    } finally {
      made.sent = undefined;
    }
  };
  // The object must stay the same: a form shows a new one's problems again, even those that staff have fixed.
  const failure = useMemo(() => (error === null ? undefined : describeFailure(error)), [error]);
  return {
    send(request) {
      const text = textOf(method, request);
      if (attempt.current?.text !== text) attempt.current = { text, key: createKey() };
      const made = attempt.current;
      made.sent ??= sendOnce(request, made);
      return made.sent;
    },
    isPending,
    failure,
    reset,
  };
}

/** Returns a function that sends a request with an idempotency key. */
export function useCall<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>) {
  const transport = useTransport();
  return ({ request, key }: { readonly request: MessageInitShape<I>; readonly key: string }) =>
    transport.unary(method, undefined, undefined, { 'idempotency-key': key }, request, undefined);
}

/** Writes a request as a text that is the same for equal ones. */
export const textOf = <I extends DescMessage>({ input }: { readonly input: I }, request: MessageInitShape<I>): string =>
  toJsonString(input, create(input, request));

/** Reads everything on the page again after a write. Resolves when it is read, or after a while. */
export async function readAgain(queryClient: QueryClient): Promise<void> {
  const pause = new Promise((resolve) => setTimeout(resolve, longestReadMs));
  await Promise.race([queryClient.invalidateQueries(), pause]);
}

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
    // A page of the console that is left goes on sending. A tab that is closed or reloaded ends it: the browser asks.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    try {
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
    } finally {
      removeEventListener('beforeunload', ask);
    }
    await readAgain(queryClient);
    const failed = [...refused.map(({ request }) => request), ...unsent];
    return { answers, failed, refused, failure: refused[0]?.failure, storeRequestId };
  };
}
