import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DatabaseConfig } from '../config/database.ts';
import { ConfigError } from '../config/variables.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Database } from './database.ts';
import { heartbeatEveryMs, PacedClient } from './pool/paced-client.ts';
import { ownName } from './schema.ts';
import { onlyRow, statement } from './statement.ts';

export interface ListenerHandlers {
  /** Maps each channel to the function that receives the payloads of its notifications. `own_name` names the channel. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>;
  /** Called when the connection listens. Earlier notifications may be lost. */
  connected(): void;
  /** Called when the connection is lost. No notifications arrive until `connected`. */
  disconnected(): void;
}

const firstRetryMs = 50;
const maxRetryMs = 2_000;
const selfTestMs = 5_000;
const closeTimeoutMs = 500;

/** Thrown when the connection listens, but notifications do not arrive. */
class NotificationsLost extends Error {
  constructor() {
    super(
      'notifications do not arrive: DATABASE_DIRECT_URL has to lead to the database of DATABASE_URL, ' +
        'and not through a pooler in transaction mode',
    );
  }
}

/** Receives notifications on a connection that LISTENs, and reopens the connection whenever it is lost. */
export class NotificationListener {
  readonly #config: DatabaseConfig;
  readonly #database: Database;
  readonly #handlers: ListenerHandlers;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  readonly #aborted = new Promise<void>((resolve) => {
    this.#stopped.signal.addEventListener('abort', () => resolve());
  });
  #running: Promise<void> | undefined;
  #lost = 0;

  /** @param database whose connections send the test notification. */
  constructor(config: DatabaseConfig, database: Database, handlers: ListenerHandlers, logger: Logger) {
    this.#config = config;
    this.#database = database;
    this.#handlers = handlers;
    this.#logger = logger;
  }

  /** Registers the metric of the connection. */
  registerMetrics(metrics: Metrics): void {
    metrics.counter(
      'listener_connections_lost_total',
      'Connections for notifications that failed, closed or fell silent.',
      () => this.#lost,
    );
  }

  /**
   * Starts listening. Resolves once a test notification has arrived. Rejects with a `ConfigError` if the connection
   * works but the notification never arrives.
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

  async #run(onReady: () => void, onConfigError: (error: ConfigError) => void): Promise<void> {
    const { signal } = this.#stopped;
    let retryMs = firstRetryMs;
    let isTested = false;
    while (!signal.aborted) {
      const connection = new Connection(this.#config, this.#handlers.channels, this.#logger);
      try {
        await connection.open();
        // The test runs once: the configuration does not change, and a busy pool must not delay a reconnect.
        if (!isTested) await connection.selfTest(this.#database, signal);
        isTested = true;
        retryMs = firstRetryMs;
        this.#handlers.connected();
        onReady();
        await Promise.race([connection.lost, this.#aborted]);
      } catch (error) {
        if (error instanceof NotificationsLost) onConfigError(new ConfigError(error.message));
        this.#lost += 1;
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
  readonly #client: PacedClient;
  readonly #channels: ListenerHandlers['channels'];
  /** The functions that receive payloads, by the channel's own name. */
  readonly #receivers = new Map<string, (payload: string) => void>();
  /** The channel of the self-test. No other connection listens on it. */
  readonly #testChannel = `listener_${randomUUID()}`;
  /** Rejects when the connection is lost. */
  readonly lost: Promise<never>;
  readonly #heartbeats: NodeJS.Timeout;
  #onTestNotification: () => void = () => undefined;

  constructor(config: DatabaseConfig, channels: ListenerHandlers['channels'], logger: Logger) {
    this.#client = new PacedClient({
      connectionString: config.directUrl,
      application_name: `${config.applicationName} listener`,
      connectionTimeoutMillis: config.connectionTimeoutMs,
      keepAlive: true,
    });
    this.#channels = channels;
    this.#receivers.set(this.#testChannel, () => this.#onTestNotification());
    this.#client.on('notification', ({ channel, payload }) => {
      // Any client of the database may notify, so payloads may be invalid.
      try {
        this.#receivers.get(channel)?.(payload ?? '');
      } catch (error) {
        logger.warn({ err: error, channel }, 'a notification could not be read');
      }
    });
    this.lost = new Promise((_resolve, reject) => {
      this.#client.on('error', reject);
      this.#client.on('end', () => reject(new Error('the connection was closed')));
    });
    this.lost.catch(() => undefined);
    this.#heartbeats = setInterval(() => void this.#client.heartbeat(), heartbeatEveryMs).unref();
  }

  async open(): Promise<void> {
    await this.#client.connect();
    for (const [name, receive] of Object.entries(this.#channels)) {
      const { text, values } = ownName({ name });
      const { rows } = await this.#client.query<{ name: string }>(text, [...values]);
      this.#receivers.set(onlyRow(rows).name, receive);
    }
    for (const channel of this.#receivers.keys()) {
      await this.#client.query(`listen ${this.#client.escapeIdentifier(channel)}`);
    }
  }

  /**
   * Sends a notification on another connection and resolves once it arrives on this one. Throws `NotificationsLost` if
   * it does not arrive: a pooler in transaction mode runs LISTEN on a connection that its clients share.
   */
  async selfTest(database: Database, signal: AbortSignal): Promise<void> {
    const arrived = new Promise<true>((resolve) => {
      this.#onTestNotification = () => resolve(true);
    });
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(selfTestMs)]);
    await database.for({ signal: timeout }).query(notify({ channel: this.#testChannel }));
    const silence = pause(selfTestMs, false, { signal, ref: false });
    if (!(await Promise.race([arrived, this.lost, silence]))) throw new NotificationsLost();
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeats);
    // On a connection that no longer answers, `end` never resolves.
    await Promise.race([this.#client.end().catch(() => undefined), pause(closeTimeoutMs, undefined, { ref: false })]);
    this.#client.destroy();
  }
}

const notify = statement<never, { channel: string }>('notify', `select pg_notify($channel, '')`);
