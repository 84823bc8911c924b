import { Agent, type ClientRequest, request as open } from 'node:http';
import { type Answer, fill, flatten, type HttpExchange, leaveInTime, noAnswer, type Variables } from './exchange.ts';

/** Sends requests to one web port, on keep-alive connections. */
export class Http1Sender {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #port: number;
  readonly #variables: Variables;

  constructor(port: number, variables: Variables) {
    this.#port = port;
    this.#variables = variables;
  }

  send(request: HttpExchange): Promise<Answer> {
    return new Promise((resolve) => {
      try {
        const opened = this.#open(request);
        collect(opened, request, (answer) => {
          // HTTP allows this race: the server may close a keep-alive connection as it is used again.
          const again = answer.ended === 'lost' && answer.status === 0 && opened.reusedSocket;
          if (again) void this.send(request).then(resolve);
          else resolve(answer);
        });
      } catch {
        resolve(noAnswer('unsent'));
      }
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #open({ method, path, headers, body, mayBeLost }: HttpExchange): ClientRequest {
    const opened = open({
      host: '127.0.0.1',
      port: this.#port,
      // After a wrong length, the server takes the rest for the next request of the connection.
      agent: mayBeLost ? false : this.#agent,
      method,
      path,
    });
    try {
      for (const [name, value] of headers) opened.appendHeader(name, fill(value, this.#variables));
      // Node sends no length with the body of DELETE and others: the server would take it for the next request.
      if (body !== '' && !opened.hasHeader('content-length')) {
        opened.setHeader('content-length', Buffer.byteLength(body, 'base64'));
      }
      return opened;
    } catch (error) {
      opened.on('error', () => undefined);
      opened.destroy();
      throw error;
    }
  }
}

function collect(opened: ClientRequest, request: HttpExchange, resolve: (answer: Answer) => void): void {
  const chunks: Buffer[] = [];
  let headers: Record<string, string> = {};
  let status = 0;
  let ended: Answer['ended'] = 'lost';
  const stay = leaveInTime(request, (why) => {
    if (ended === 'lost') ended = why;
    opened.destroy();
  });
  opened.on('response', (response) => {
    status = response.statusCode ?? 0;
    headers = flatten(response.headers);
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', () => undefined);
    response.on('end', () => {
      ended = 'answered';
    });
  });
  opened.on('error', () => undefined);
  opened.on('upgrade', (_response, socket) => socket.destroy());
  opened.on('close', () => {
    stay();
    resolve({ ended, status, headers, body: Buffer.concat(chunks) });
  });
  const body = Buffer.from(request.body, 'base64');
  if (body.byteLength === 0 && request.method === 'GET') opened.end();
  else opened.end(body);
}
