import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import type { DatabaseConfig } from '../config/config.ts';
import { ConfigError } from '../config/variables.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

export interface ListenerHandlers {
  /** Channel to what is done with a notification's payload. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>;
  /** The connection listens again: what was notified before is lost. */
  connected(): void;
  /** Nothing is heard until `connected`. */
  disconnected(): void;
}

const firstRetryMs = 50;
const maxRetryMs = 2_000;
// A connection that died without a word is found out by asking.
const heartbeatMs = 5_000;
const farewellMs = 500;

/** The connection listens, and hears nothing. */
class NotificationsLost extends Error {
  constructor() {
    super(
      'notifications do not arrive: DATABASE_DIRECT_URL has to lead to the database of DATABASE_URL, ' +
        'and not through a pooler in transaction mode',
    );
  }
}

/** One connection that LISTENs, kept up for as long as the process lives. */
export class NotificationListener {
  readonly #config: DatabaseConfig;
  readonly #database: Database;
  readonly #handlers: ListenerHandlers;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;

  /** @param database that those who notify are connected to */
  constructor(config: DatabaseConfig, database: Database, handlers: ListenerHandlers, logger: Logger) {
    this.#config = config;
    this.#database = database;
    this.#handlers = handlers;
    this.#logger = logger;
  }

  /**
   * Connects, and again whenever the connection is lost. Resolves once it hears what is notified; rejects
   * with a `ConfigError` when it never will.
   */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#running = this.#run(resolve, reject);
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(hears: () => void, isDeaf: (error: ConfigError) => void): Promise<void> {
    const { signal } = this.#stopped;
    let retryMs = firstRetryMs;
    let hasHeard = false;
    while (!signal.aborted) {
      const connection = new Connection(this.#config, this.#handlers.channels, this.#logger);
      try {
        await connection.open();
        // Once: no pooler comes between later, and a pool that is busy must not keep this from listening.
        if (!hasHeard) await connection.hear(this.#database, signal);
        hasHeard = true;
        retryMs = firstRetryMs;
        this.#handlers.connected();
        hears();
        await connection.lost(signal);
      } catch (error) {
        if (error instanceof NotificationsLost) isDeaf(new ConfigError(error.message));
        if (!signal.aborted) this.#logger.warn({ err: error }, 'the connection for notifications failed');
      } finally {
        this.#handlers.disconnected();
        await connection.close();
      }
      await pause(retryMs, undefined, { signal }).catch(() => undefined);
      retryMs = Math.min(retryMs * 2, maxRetryMs);
    }
  }
}

class Connection {
  readonly #socket = new Socket();
  readonly #client: pg.Client;
  readonly #channels: string[];
  /** Of this connection alone, to find out whether it hears. */
  readonly #ownChannel = `listener_${randomUUID()}`;
  #heard: () => void = () => undefined;
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
    this.#channels = [...Object.keys(channels), this.#ownChannel];
    this.#client.on('notification', ({ channel, payload }) => {
      if (channel === this.#ownChannel) this.#heard();
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

  /**
   * Resolves once this connection has heard what another one notified; throws `NotificationsLost` when it does not.
   * A pooler in transaction mode takes LISTEN for one of its own connections, and says nothing.
   */
  async hear(database: Database, signal: AbortSignal): Promise<void> {
    const heard = new Promise<true>((resolve) => {
      this.#heard = () => resolve(true);
    });
    const late = AbortSignal.any([signal, AbortSignal.timeout(heartbeatMs)]);
    await database.withSignal(late).query(notify({ channel: this.#ownChannel }));
    const lost = this.#over.then(() => {
      throw new Error('the connection was lost');
    });
    const silence = pause(heartbeatMs, false, { signal, ref: false });
    if (!(await Promise.race([heard, lost, silence]))) throw new NotificationsLost();
  }

  /** Resolves when the connection is gone or the signal aborts; rejects when it no longer answers. */
  async lost(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const heartbeat = setInterval(() => {
        this.#client.query('select').catch(reject);
      }, heartbeatMs);
      const end = () => this.#end();
      this.#over.then(() => {
        clearInterval(heartbeat);
        signal.removeEventListener('abort', end);
        resolve();
      }, reject);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
  }

  async close(): Promise<void> {
    // A connection that died without a word would never end.
    await Promise.race([this.#client.end().catch(() => undefined), pause(farewellMs, undefined, { ref: false })]);
    this.#socket.destroy();
  }
}

const notify = statement<never, { channel: string }>('notify', `select pg_notify($channel, '')`);
