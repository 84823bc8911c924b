import { ServerResponse } from 'node:http';
import { OpenRequest, type OpenRequests } from '../limits/open-requests.ts';
import type { WebRequest, WebResponse } from './port.ts';

const encodingHeaders = ['content-encoding', 'connect-content-encoding', 'grpc-encoding'];

/** Whether the message of a request may be compressed. */
export function mayBeCompressed({ headers }: WebRequest): boolean {
  return encodingHeaders.some((name) => (headers[name] ?? 'identity') !== 'identity');
}

/** The path of a request, without its query. */
export function pathOf({ url = '' }: WebRequest): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** A request on the web port. Over HTTP/1.1, Node itself limits how long a request may take to arrive. */
export class HttpRequest extends OpenRequest {
  readonly #request: WebRequest;
  readonly #response: WebResponse;

  constructor(requests: OpenRequests, request: WebRequest, response: WebResponse) {
    super(requests, request.rawHeaders, mayBeCompressed(request));
    this.#request = request;
    this.#response = response;
  }

  get isArriving(): boolean {
    const request = this.#request;
    // A query by GET has no body, and nobody reads its end.
    return 'stream' in request && !request.stream.endAfterHeaders && !request.complete;
  }

  get unread(): number {
    const response = this.#response;
    return response instanceof ServerResponse ? response.writableLength : (response.stream?.writableLength ?? 0);
  }

  reset(): void {
    this.#response.destroy();
  }

  disconnect(): void {
    if ('stream' in this.#request) this.#request.stream.session?.destroy();
    else this.#request.socket.destroy();
  }
}
