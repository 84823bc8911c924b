import { Socket } from 'node:net';
import { setImmediate as nextIteration, setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** The most that Node reads from a socket at once. A chunk of this length means that more is waiting. */
const partBytes = 64 * 1024;
/** The interval of heartbeats. Together with `answerWithinMs`, it detects a silent connection within 9 s (design 8). */
export const heartbeatEveryMs = 4_000;
const answerWithinMs = 4_500;

/**
 * A connection that reads a long result in chunks and lets other calls run between them. Node itself reads up to 32
 * chunks in one iteration of the event loop, and the driver takes long to parse them.
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
   * Sends an empty query, and closes the connection if no answer comes in time. A failover can leave a connection open
   * but dead, which TCP does not report. Never rejects.
   */
  async heartbeat(): Promise<void> {
    const isAnswered = () => true;
    const answer = this.query('select').then(isAnswered, isAnswered);
    // After a pause of the process, the answer may already be in the socket, so the event loop reads it first.
    const silence = pause(answerWithinMs, undefined, { ref: false }).then(() => nextIteration(false));
    if (!(await Promise.race([answer, silence]))) this.destroy();
  }

  /**
   * Closes the connection at once. pg's own `end` would wait for the statements of the pipeline, which may never end.
   */
  destroy(): void {
    this.#socket.destroy(new Error('the server no longer answers on this connection'));
  }
}
