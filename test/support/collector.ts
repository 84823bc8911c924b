import { createServer, type Server, type ServerResponse } from 'node:http';
import { listen } from './listen.ts';

/** A span as OTLP writes it in JSON. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
  readonly links: readonly { traceId: string; spanId: string }[];
  readonly status: { readonly code: number };
}

interface Received {
  readonly resourceSpans: readonly {
    readonly resource: Pick<ReceivedSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

/** An OTLP collector that keeps what it receives. */
export class Collector {
  readonly url: string;
  /** The bodies of all requests for `/v1/traces`. */
  readonly bodies: string[] = [];
  readonly headers: NodeJS.Dict<string | string[]>[] = [];
  readonly #close: () => void;

  private constructor(server: Server, port: number, answer: (response: ServerResponse) => void) {
    this.url = `http://127.0.0.1:${port}`;
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.url === '/v1/traces') this.bodies.push(Buffer.concat(chunks).toString('utf8'));
        this.headers.push(request.headers);
        answer(response);
      });
    });
    this.#close = () => {
      server.close();
      server.closeAllConnections();
    };
  }

  /** @param hangs answers no request. */
  static async start({ hangs = false } = {}): Promise<Collector> {
    const server = createServer();
    return new Collector(server, await listen(server), (response) => {
      if (!hangs) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }

  get #received(): Received['resourceSpans'] {
    return this.bodies.flatMap((body) => {
      const { resourceSpans }: Received = JSON.parse(body);
      return resourceSpans;
    });
  }

  get spans(): ReceivedSpan[] {
    return this.#received.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  }

  get services(): Set<unknown> {
    return new Set(this.#received.map(({ resource }) => attributesOf(resource)['service.name']));
  }

  close(): void {
    this.#close();
  }
}

/** The values of the attributes by their names, whatever their types. */
export function attributesOf({ attributes }: Pick<ReceivedSpan, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
