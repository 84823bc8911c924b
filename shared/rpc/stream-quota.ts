import type { Http2SecureServer, Http2Server, Http2Session } from 'node:http2';
import { callsOfAllConnections, callsOfOneConnection } from './limits.ts';

const shareMs = 100;

/** What one HTTP/2 connection has open. */
export class StreamUse {
  calls = 0;
  /** Streaming calls, which are open for long: they come on top, or they would use up the calls. */
  streams = 0;
  /** Its quota, as it was last told. */
  told = callsOfOneConnection;
}

/**
 * Shares the calls that a process does at its best among its HTTP/2 connections, in each one's setting
 * of concurrent streams. What a client has beyond waits at the client and costs nothing. To refuse a
 * call costs the process nearly as much as to do it: past three times the load refusals alone would
 * leave no time for the calls that are accepted.
 */
export class StreamQuota {
  readonly #uses = new Map<Http2Session, StreamUse>();

  constructor(server: Http2Server | Http2SecureServer) {
    server.on('session', (session) => {
      this.#uses.set(session, new StreamUse());
      session.once('close', () => this.#uses.delete(session));
    });
    const timer = setInterval(() => this.#share(), shareMs).unref();
    server.once('close', () => clearInterval(timer));
  }

  of(session: Http2Session | undefined): StreamUse | undefined {
    return session && this.#uses.get(session);
  }

  #share(): void {
    let active = 0;
    for (const { calls } of this.#uses.values()) if (calls > 0) active += 1;
    const even = Math.floor(callsOfAllConnections / Math.max(1, active));
    const share = Math.min(callsOfOneConnection, Math.max(1, even));
    for (const [session, use] of this.#uses) {
      const quota = share + use.streams;
      if (use.calls + use.streams === 0 || use.told === quota || session.destroyed) continue;
      use.told = quota;
      session.settings({ maxConcurrentStreams: quota });
    }
  }
}
