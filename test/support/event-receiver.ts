import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import { listen } from './listen.ts';

/** A webhook as it came. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly ids: readonly string[];
  /** What it was answered with. */
  status: number;
}

type Answer = (received: Received, response: ServerResponse) => number | Promise<number>;

/** A receiver of webhooks, and what it was sent. */
export class EventReceiver {
  readonly received: Received[] = [];
  /** The most webhooks at one time. */
  mostAtOnce = 0;
  /** The status that it answers with. */
  answer: Answer = () => 204;
  #open = 0;
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  /** Where it is. The query is a secret. */
  url = '';

  static async start(): Promise<EventReceiver> {
    const receiver = new EventReceiver();
    receiver.url = `http://127.0.0.1:${await listen(receiver.#server)}/events?token=url-secret`;
    return receiver;
  }

  /** The ids of the events that were taken. */
  get taken(): string[] {
    return this.received.filter(({ status }) => status === 204).flatMap(({ ids }) => ids);
  }

  /** Resolves once that many events were taken. */
  until(count: number): Promise<void> {
    return eventually(() => expect(this.taken.length).toBeGreaterThanOrEqual(count));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const ids = JSON.parse(body).map(({ id }: { id: string }) => id);
    const received: Received = { headers: request.headers, body, ids, status: 0 };
    this.received.push(received);
    received.status = await this.answer(received, response);
    this.#open -= 1;
    if (!response.destroyed) response.writeHead(received.status, { location: '/elsewhere' }).end('x');
  }
}
