import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { type Answer, fill, flatten, type HttpExchange, leaveInTime, noAnswer, type Variables } from './exchange.ts';

const politeSessions = 4;
// A server closes a connection that resets many streams, so requests that are reset have connections of their own.
const roughSessions = 2;

/** Sends calls to one gRPC port, many on each of a few connections. */
export class Http2Sender {
  readonly #url: string;
  readonly #variables: Variables;
  readonly #sessions = new Map<number, ClientHttp2Session>();
  #turn = 0;

  constructor(port: number, variables: Variables) {
    this.#url = `http://127.0.0.1:${port}`;
    this.#variables = variables;
  }

  send(request: HttpExchange): Promise<Answer> {
    return new Promise((resolve) => {
      const headers: Record<string, string | string[]> = { ':method': request.method, ':path': request.path };
      for (const [name, value] of request.headers) {
        const key = name.toLowerCase();
        const known = headers[key];
        const filled = fill(value, this.#variables);
        headers[key] = known === undefined ? filled : [known, filled].flat();
      }
      try {
        const isRough = request.mayBeLost || request.leaveAfterMs !== undefined;
        collect(this.#session(isRough).request(headers), request, resolve);
      } catch {
        resolve(noAnswer('unsent'));
      }
    });
  }

  close(): void {
    for (const session of this.#sessions.values()) session.destroy();
  }

  #session(isRough: boolean): ClientHttp2Session {
    this.#turn += 1;
    const key = isRough ? politeSessions + (this.#turn % roughSessions) : this.#turn % politeSessions;
    const known = this.#sessions.get(key);
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connect(this.#url);
    session.on('error', () => undefined);
    session.on('goaway', () => session.close());
    this.#sessions.set(key, session);
    return session;
  }
}

function collect(stream: ClientHttp2Stream, request: HttpExchange, resolve: (answer: Answer) => void): void {
  const headers: Record<string, string> = {};
  const chunks: Buffer[] = [];
  let status = 0;
  let ended: Answer['ended'] = 'lost';
  const stay = leaveInTime(request, (why) => {
    ended = why;
    stream.close(8);
  });
  const take = (given: NodeJS.Dict<string | string[] | number>) => {
    Object.assign(headers, flatten(given));
    status = Number(headers[':status']);
    if (headers['grpc-status'] !== undefined) ended = 'answered';
  };
  stream.on('response', take);
  stream.on('trailers', take);
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => {
    if (status !== 0 && ended === 'lost') ended = 'answered';
  });
  // A reset after the status does not change the outcome.
  stream.on('error', () => undefined);
  stream.on('close', () => {
    stay();
    // A message that is too large. gRPC clients read it as RESOURCE_EXHAUSTED.
    if (ended === 'lost' && stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) ended = 'cut';
    resolve({ ended, status, headers, body: Buffer.concat(chunks) });
  });
  stream.end(Buffer.from(request.body, 'base64'));
}
