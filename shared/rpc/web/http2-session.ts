import { constants, type ServerHttp2Session } from 'node:http2';
import { nghttp2ResetLimit } from '../../internals/node-http2.ts';

/** When a session of the web port is ended. */
export interface SessionLimits {
  /** The time between two pings; a session that has not answered one by the next is dead. */
  readonly pingMs: number;
  /** How long a session may stay open without a stream. */
  readonly idleMs: number;
  /** How many streams a client may reset at once, and then each second. */
  readonly resetBurst: number;
  readonly resetsPerSecond: number;
}

const defaults: SessionLimits = {
  pingMs: 20_000,
  idleMs: 120_000,
  // Tighter than nghttp2, whose own limit must never be reached.
  resetBurst: nghttp2ResetLimit.burst / 2,
  resetsPerSecond: nghttp2ResetLimit.perSecond - 3,
};

/**
 * Ends a session that floods the server with resets, whose client no longer answers pings, or that has
 * been without a stream for a while. A session that only waits, as for a watch, stays.
 */
export function limitSession(session: ServerHttp2Session, limits = defaults): void {
  const resets = new TokenBucket(limits.resetBurst, limits.resetsPerSecond);
  let openStreams = 0;
  let lastUsedMs = Date.now();
  session.on('stream', (stream) => {
    openStreams += 1;
    stream.once('close', () => {
      openStreams -= 1;
      lastUsedMs = Date.now();
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR || resets.take()) return;
      if (!session.destroyed) session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    });
  });

  let answered = true;
  const keepalive = setInterval(() => {
    // It emits `close` only later, and must not be pinged until then: that throws.
    if (session.destroyed) return;
    const isIdle = openStreams === 0 && Date.now() - lastUsedMs >= limits.idleMs;
    if (isIdle || !answered) {
      session.destroy();
      return;
    }
    answered = false;
    session.ping(() => {
      answered = true;
    });
  }, limits.pingMs);
  keepalive.unref();
  session.once('close', () => clearInterval(keepalive));
}

/** Allows a burst, and then so many per second. */
class TokenBucket {
  readonly #burst: number;
  readonly #perSecond: number;
  #tokens: number;
  #filledAtMs = Date.now();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#tokens = burst;
  }

  /** Takes a token; false when there is none. */
  take(): boolean {
    const nowMs = Date.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#filledAtMs) / 1_000) * this.#perSecond);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
