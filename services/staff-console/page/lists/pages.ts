import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useTransport } from '@connectrpc/connect-query';

/** Reads a list from its first page to its last. Each page is asked for when the one before has been used. */
export type ReadPages = <I extends DescMessage, O extends DescMessage, Page>(
  method: DescMethodUnary<I, O>,
  /** Returns the request of the page after an answer; undefined after the last. The first one is of no answer. */
  request: (answer: MessageShape<O> | undefined) => MessageInitShape<I> | undefined,
  pageOf: (answer: MessageShape<O>) => Page,
  signal: AbortSignal,
) => AsyncGenerator<Page>;

/** Returns a function that reads all pages of a list. */
export function useReadPages(): ReadPages {
  const transport = useTransport();
  return async function* (method, request, pageOf, signal) {
    for (let next = request(undefined); next !== undefined; ) {
      const { message } = await transport.unary(method, signal, undefined, undefined, next, undefined);
      yield pageOf(message);
      next = request(message);
    }
  };
}
