import type { ServerHttp2Session } from 'node:http2';

/** When a session of the web port is ended. */
export interface SessionLimits {
  /** The time between two pings; a session that has not answered one by the next is dead. */
  readonly pingMs: number;
  /** How long a session may stay open without a stream. */
  readonly idleMs: number;
}

/**
 * Ends a session whose client no longer answers pings, or that has been without a stream for a while. A
 * session that only waits, as for a watch, stays. When a client floods it with resets, nghttp2 ends the
 * session but Node keeps the connection: the pings close that, too.
 */
export function limitSession(session: ServerHttp2Session, limits: SessionLimits = { pingMs: 20_000, idleMs: 120_000 }) {
  let openStreams = 0;
  let lastUsedMs = Date.now();
  session.on('stream', (stream) => {
    openStreams += 1;
    stream.once('close', () => {
      openStreams -= 1;
      lastUsedMs = Date.now();
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
