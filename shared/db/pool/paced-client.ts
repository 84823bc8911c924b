import { Socket } from 'node:net';
import { setImmediate as nextIteration, setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** What Node reads from a socket at once. More is waiting when a part is so long. */
const partBytes = 64 * 1024;
/** How often to send a beat. With the time that its answer may take, a silent connection is found out within 9 s (design 8). */
export const beatEveryMs = 4_000;
const answerWithinMs = 4_500;

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

  /**
   * Asks the server for a sign of life, and closes the connection when none comes in time: a failover can leave a connection open
   * on which nothing arrives any more, which TCP does not report. Never rejects.
   */
  async beat(): Promise<void> {
    const isAnswered = () => true;
    const answer = this.query('select').then(isAnswered, isAnswered);
    // A process that was stopped reads what has arrived meanwhile before it judges.
    const silence = pause(answerWithinMs, undefined, { ref: false }).then(() => nextIteration(false));
    if (!(await Promise.race([answer, silence]))) this.destroy();
  }

  /** Closes the connection at once: a pipeline of pg would wait for its statements, which may never end. */
  destroy(): void {
    this.#socket.destroy(new Error('the server no longer answers on this connection'));
  }
}
