import { Socket } from 'node:net';
import pg from 'pg';

/** What Node reads from a socket at once. More is waiting when a part is so long. */
const partBytes = 64 * 1024;

/**
 * A connection that reads a long result in parts, between which other calls run. Node itself reads up to
 * 32 parts in one iteration of the event loop, and the driver takes long to turn them into rows.
 */
export class PacedClient extends pg.Client {
  readonly #socket: Socket;

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    socket.on('data', (part) => {
      if (part.length < partBytes) return;
      socket.pause();
      setImmediate(() => socket.resume());
    });
  }

  /** Closes the connection at once: a pipeline of pg would wait for its statements, which may never end. */
  destroy(): void {
    this.#socket.destroy();
  }
}
