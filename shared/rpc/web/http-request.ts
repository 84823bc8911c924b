import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connection } from '../limits/connections.ts';
import { OpenRequest, type OpenRequests } from '../limits/open-requests.ts';

/** The headers that name the compression of a message, by protocol. */
export const encodingHeaders = ['content-encoding', 'connect-content-encoding', 'grpc-encoding'];

/** Whether a request's message may be compressed. */
export function mayBeCompressed({ headers }: IncomingMessage): boolean {
  return encodingHeaders.some((name) => (headers[name] ?? 'identity') !== 'identity');
}

/** Returns the path of a request, without the query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** A request on the web port. */
export class HttpRequest extends OpenRequest {
  /** Node itself limits how long a request may take to arrive. */
  readonly isArriving = false;
  readonly #response: ServerResponse;

  constructor(requests: OpenRequests, connection: Connection, request: IncomingMessage, response: ServerResponse) {
    super(requests, connection, request.rawHeaders, mayBeCompressed(request));
    this.#response = response;
  }

  get unread(): number {
    return this.#response.writableLength;
  }

  reset(): void {
    this.disconnect();
  }

  /** Ends the connection: a call before this one loses its answer, and those behind have not begun. */
  disconnect(): void {
    this.#response.req.socket.destroy();
  }
}
