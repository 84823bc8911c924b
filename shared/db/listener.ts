import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import type { DatabaseConfig } from '../config/config.ts';

export interface ListenerHandlers {
  /** Channel to what is done with a notification's payload. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>;
  /** The connection listens again: what was notified before is lost. */
  connected(): void;
  /** Nothing is heard until `connected`. */
  disconnected(): void;
}

const firstRetryMs = 50;
const longestRetryMs = 2_000;
// A connection that died without a word is found out by asking.
const heartbeatMs = 5_000;
const farewellMs = 500;

/** One connection that LISTENs, kept up for as long as the process lives. */
export class NotificationListener {
  readonly #config: DatabaseConfig;
  readonly #handlers: ListenerHandlers;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;

  constructor(config: DatabaseConfig, handlers: ListenerHandlers, logger: Logger) {
    this.#config = config;
    this.#handlers = handlers;
    this.#logger = logger;
  }

  /** Connects, and again whenever the connection is lost. Resolves once it listens. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#running = this.#run(resolve);
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(listening: () => void): Promise<void> {
    const { signal } = this.#stopped;
    let retryMs = firstRetryMs;
    while (!signal.aborted) {
      const connection = new Connection(this.#config, this.#handlers.channels, this.#logger);
      try {
        await connection.open();
        retryMs = firstRetryMs;
        this.#handlers.connected();
        listening();
        await connection.lost(signal);
      } catch (error) {
        this.#logger.warn({ err: error }, 'the connection for notifications failed');
      } finally {
        this.#handlers.disconnected();
        await connection.close();
      }
      await pause(retryMs, undefined, { signal }).catch(() => undefined);
      retryMs = Math.min(retryMs * 2, longestRetryMs);
    }
  }
}

class Connection {
  readonly #socket = new Socket();
  readonly #client: pg.Client;
  readonly #channels: string[];
  #end: () => void = () => undefined;
  readonly #over: Promise<void>;

  constructor(config: DatabaseConfig, channels: ListenerHandlers['channels'], logger: Logger) {
    this.#client = new pg.Client({
      connectionString: config.directUrl ?? config.url,
      application_name: `${config.applicationName} listener`,
      connectionTimeoutMillis: config.connectionTimeoutMs,
      query_timeout: heartbeatMs,
      keepAlive: true,
      stream: () => this.#socket,
    });
    this.#channels = Object.keys(channels);
    this.#client.on('notification', ({ channel, payload }) => {
      // Anyone who may connect can notify.
      try {
        channels[channel]?.(payload ?? '');
      } catch (error) {
        logger.warn({ err: error, channel }, 'a notification could not be read');
      }
    });
    this.#over = new Promise((resolve) => {
      this.#end = resolve;
      this.#client.on('end', () => resolve());
      this.#client.on('error', () => resolve());
    });
  }

  async open(): Promise<void> {
    await this.#client.connect();
    for (const channel of this.#channels) await this.#client.query(`listen ${this.#client.escapeIdentifier(channel)}`);
  }

  /** Resolves when the connection is gone or the signal aborts; rejects when it no longer answers. */
  async lost(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const heartbeat = setInterval(() => {
        this.#client.query('select').catch(reject);
      }, heartbeatMs);
      this.#over.then(() => {
        clearInterval(heartbeat);
        resolve();
      }, reject);
      signal.addEventListener('abort', () => this.#end(), { once: true });
      if (signal.aborted) this.#end();
    });
  }

  async close(): Promise<void> {
    // A connection that died without a word would never end.
    await Promise.race([this.#client.end().catch(() => undefined), pause(farewellMs, undefined, { ref: false })]);
    this.#socket.destroy();
  }
}
