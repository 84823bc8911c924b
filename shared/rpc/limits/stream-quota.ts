import type { Http2SecureServer, Http2Server, Http2Session } from 'node:http2';
import { callsOfAllConnections, callsOfOneConnection } from './limits.ts';

const shareMs = 50;

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
 * call costs the process nearly as much as to do it: past three times the load errors alone would
 * leave no time for the calls that are accepted.
 */
export class StreamQuota {
  readonly #uses = new Map<Http2Session, StreamUse>();
  #calls = 0;
  #sharedAt = 0;

  constructor(server: Http2Server | Http2SecureServer) {
    server.on('session', (session) => {
      this.#uses.set(session, new StreamUse());
      session.once('close', () => this.#uses.delete(session));
    });
    const timer = setInterval(() => this.#share(), shareMs).unref();
    server.once('close', () => clearInterval(timer));
  }

  /** Counts a call or a stream; gives the function that ends it. */
  begin(session: Http2Session | undefined, kind: 'calls' | 'streams'): () => void {
    const use = session && this.#uses.get(session);
    if (use === undefined) return () => undefined;
    use[kind] += 1;
    if (kind === 'calls') this.#calls += 1;
    // A rush does not wait for the timer, which comes after all that has arrived.
    if (this.#calls > callsOfAllConnections && performance.now() - this.#sharedAt > shareMs) this.#share();
    return () => {
      use[kind] -= 1;
      if (kind === 'calls') this.#calls -= 1;
    };
  }

  #share(): void {
    this.#sharedAt = performance.now();
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
