import { constants, type ServerHttp2Session } from 'node:http2';

/** When a session of the web port is ended. */
export interface SessionLimits {
  /** How often it is pinged; one that has not answered by the next time is gone. */
  readonly pingMs: number;
  /** How long it is kept without a stream. */
  readonly idleMs: number;
  /** How many streams may be reset at once, and in the long run. */
  readonly resetBurst: number;
  readonly resetsPerSecond: number;
}

// Less than nghttp2's own 1000 and 33: once it has ended a session by those, Node reads no more from the
// connection and never closes it.
const defaults: SessionLimits = { pingMs: 20_000, idleMs: 120_000, resetBurst: 500, resetsPerSecond: 30 };

/**
 * Ends a session that floods with resets, whose client is gone, or that has been without a stream for
 * a while. One that only waits, as that of a watch does, stays.
 */
export function limitSession(session: ServerHttp2Session, limits = defaults): void {
  const resets = new TokenBucket(limits.resetBurst, limits.resetsPerSecond);
  let open = 0;
  let lastUsedMs = Date.now();
  session.on('stream', (stream) => {
    open += 1;
    stream.once('close', () => {
      open -= 1;
      lastUsedMs = Date.now();
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR || resets.take()) return;
      if (!session.destroyed) session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    });
  });

  let answered = true;
  const look = setInterval(() => {
    const idle = open === 0 && Date.now() - lastUsedMs >= limits.idleMs;
    if (idle || !answered) {
      session.destroy();
      return;
    }
    answered = false;
    session.ping(() => {
      answered = true;
    });
  }, limits.pingMs);
  look.unref();
  session.once('close', () => clearInterval(look));
}

/** So many at once, and then so many a second. */
class TokenBucket {
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #asOfMs = Date.now();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
  }

  /** Takes one; false when there is none. */
  take(): boolean {
    const nowMs = Date.now();
    this.#left = Math.min(this.#burst, this.#left + ((nowMs - this.#asOfMs) / 1_000) * this.#perSecond);
    this.#asOfMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
