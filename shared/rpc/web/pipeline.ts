import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request of a connection, with its response. */
export interface Turn {
  readonly response: ServerResponse;
  /** Begins to answer it. */
  begin(): void;
  /** Called once, when its response has closed, or its connection before its turn has come. */
  end(): void;
}

/**
 * The requests of an HTTP/1.1 connection. They are answered one at a time, in the order in which they came. While one
 * of them waits, the connection is not read on, so that its client waits, too; nor is it seen then that the client leaves.
 */
export class Pipeline {
  readonly #socket: Socket;
  /** The first one is being answered. */
  readonly #line: Turn[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node reads on after each request that it has parsed.
    socket.on('resume', () => {
      if (this.#line.length > 1) socket.pause();
    });
  }

  /** The response to the newest request; undefined if all are answered. */
  get lastResponse(): ServerResponse | undefined {
    return this.#line.at(-1)?.response;
  }

  add(turn: Turn): void {
    if (this.#socket.destroyed) return void turn.end();
    this.#line.push(turn);
    if (this.#line.length > 1) this.#socket.pause();
    else this.#begin(turn);
  }

  #begin({ response, begin }: Turn): void {
    response.once('close', () => this.#next());
    begin();
  }

  #next(): void {
    this.#line.shift()?.end();
    // Node tells only the first response that the connection has closed.
    if (this.#socket.destroyed) for (const turn of this.#line.splice(0)) turn.end();
    const [next] = this.#line;
    if (this.#line.length < 2 && this.#socket.isPaused()) this.#socket.resume();
    if (next !== undefined) this.#begin(next);
  }
}
