import type { Http2SecureServer, Http2Server, Http2Session } from 'node:http2';
import { maxCallsPerConnection, maxConcurrentCalls } from './limits.ts';

const rebalanceMs = 50;

/** What one HTTP/2 connection has open. */
class StreamUse {
  calls = 0;
  /** Streaming calls. They stay open for long and come on top of the share, or they would use it up. */
  streams = 0;
  /** The quota that the client was last sent. */
  advertised = maxCallsPerConnection;
}

/**
 * Splits a process-wide budget of concurrent calls over the active HTTP/2 connections, through each
 * one's SETTINGS_MAX_CONCURRENT_STREAMS. Further calls wait at the client, where they cost nothing.
 * Rejecting a call costs the process nearly as much as executing it: past three times the load,
 * rejections alone would leave no time for the calls that were admitted.
 */
export class StreamQuota {
  readonly #uses = new Map<Http2Session, StreamUse>();
  #calls = 0;
  #rebalancedAt = 0;

  constructor(server: Http2Server | Http2SecureServer) {
    server.on('session', (session) => {
      this.#uses.set(session, new StreamUse());
      session.once('close', () => this.#uses.delete(session));
    });
    const timer = setInterval(() => this.#rebalance(), rebalanceMs).unref();
    server.once('close', () => clearInterval(timer));
  }

  /** Counts a call or a stream. Returns the function that ends it. */
  begin(session: Http2Session | undefined, kind: 'calls' | 'streams'): () => void {
    const use = session && this.#uses.get(session);
    if (use === undefined) return () => undefined;
    use[kind] += 1;
    if (kind === 'calls') this.#calls += 1;
    // In a burst the timer is late: it runs only after everything that has arrived.
    if (this.#calls > maxConcurrentCalls && performance.now() - this.#rebalancedAt > rebalanceMs) this.#rebalance();
    return () => {
      use[kind] -= 1;
      if (kind === 'calls') this.#calls -= 1;
    };
  }

  #rebalance(): void {
    this.#rebalancedAt = performance.now();
    let active = 0;
    for (const { calls } of this.#uses.values()) if (calls > 0) active += 1;
    const evenShare = Math.floor(maxConcurrentCalls / Math.max(1, active));
    const share = Math.min(maxCallsPerConnection, Math.max(1, evenShare));
    for (const [session, use] of this.#uses) {
      const quota = share + use.streams;
      if (use.calls + use.streams === 0 || use.advertised === quota || session.destroyed) continue;
      use.advertised = quota;
      session.settings({ maxConcurrentStreams: quota });
    }
  }
}
