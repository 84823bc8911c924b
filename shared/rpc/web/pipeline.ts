import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request of a connection, with its response. */
export interface Turn {
  readonly response: ServerResponse;
  /** Begins to answer it, once its response has the connection. */
  begin(): void;
  /** Called once, when its response or its connection has closed. */
  end(): void;
}

/**
 * The requests of an HTTP/1.1 connection. They are answered one at a time, in the order in which they came: Node gives
 * the connection to one response after another, and tells only that one when it closes. While one of them waits, the
 * connection is not read on, so that its client waits, too; nor is it seen then that the client leaves.
 */
export class Pipeline {
  readonly #socket: Socket;
  readonly #line: Turn[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node reads on after each request that it has parsed.
    socket.on('resume', () => {
      if (this.#line.length > 1) socket.pause();
    });
    socket.once('close', () => {
      for (const turn of this.#line.splice(0)) turn.end();
    });
  }

  /** The response to the newest request; undefined if all are answered. */
  get lastResponse(): ServerResponse | undefined {
    return this.#line.at(-1)?.response;
  }

  add(turn: Turn): void {
    this.#line.push(turn);
    if (this.#line.length > 1) this.#socket.pause();
    // It may be the first one here and yet wait, for a response that Node itself gives.
    if (turn.response.socket === null) turn.response.once('socket', () => this.#begin(turn));
    else this.#begin(turn);
  }

  #begin(turn: Turn): void {
    if (this.#socket.destroyed) return;
    turn.response.once('close', () => this.#end(turn));
    turn.begin();
  }

  #end(turn: Turn): void {
    if (this.#line[0] !== turn) return;
    this.#line.shift();
    turn.end();
    if (this.#line.length < 2 && this.#socket.isPaused()) this.#socket.resume();
  }
}
