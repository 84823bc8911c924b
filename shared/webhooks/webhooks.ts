import type { Logger } from 'pino';
import { Webhook } from 'standardwebhooks';
import type { EntryTail } from '../audit/tail.ts';
import { CallSignal } from '../cancellation/signal.ts';
import type { EventsConfig } from '../config/events.ts';
import type { Database } from '../db/database.ts';
import type { BoundStatement } from '../db/statement.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { batchType, toEventJson } from './cloud-event.ts';
import { beginDelivery, claimBatch, completeBatch, delayBatch, endDelivery, readDelivery } from './deliveries.ts';

const maxBatch = 100;
const answerWithinMs = 10_000;
/** Entries of the other service only are passed in steps of this length, so that retention may delete them. */
const passedIds = 500;

/** The parts of a service that webhooks need. */
interface NotifyingService {
  readonly config: { readonly events: EventsConfig | undefined; readonly database: { applicationName: string } };
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly shutdown: { push(step: { readonly name: string; stop(): Promise<void> }): void };
}

/** Starts to post a service's audit entries to EVENTS_URL, in their final order (design 14). */
export async function startWebhooks(service: NotifyingService, tail: EntryTail): Promise<void> {
  const { config, database, shutdown } = service;
  const { applicationName } = config.database;
  if (config.events === undefined) {
    const caller = { signal: AbortSignal.timeout(10_000) };
    return void (await database.for(caller).query(endDelivery({ service: applicationName })));
  }
  const webhooks = new Webhooks(service, config.events, tail);
  const stopped = new AbortController();
  const running = webhooks.run(stopped.signal);
  shutdown.push({
    name: 'webhooks',
    async stop() {
      stopped.abort();
      await running;
    },
  });
}

/**
 * Posts entries in batches: one replica at a time, and the next batch only when the last one was taken. Whatever else
 * the receiver answers, the batch is sent again under the same id.
 */
class Webhooks {
  readonly #service: string;
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #tail: EntryTail;
  readonly #url: string;
  readonly #signers: readonly Webhook[];
  readonly #counts = { taken: 0, refused: 0 };
  /** The time of the oldest entry that was not taken. */
  #oldestMs: number | undefined;
  /** Up to here there was nothing to send. */
  #idleAt = -1;
  #hasBegun = false;
  #isFailing = false;

  constructor({ config, database, logger, metrics }: NotifyingService, events: EventsConfig, tail: EntryTail) {
    this.#service = config.database.applicationName;
    this.#database = database;
    this.#logger = logger;
    this.#tail = tail;
    this.#url = events.url;
    this.#signers = events.secrets.map((secret) => new Webhook(secret));
    metrics.gauge(
      'webhook_oldest_entry_seconds',
      'How long the oldest audit entry waits that the receiver of webhooks has not taken; 0: none.',
      () => (this.#oldestMs === undefined ? 0 : Math.max(database.clock.now() - this.#oldestMs, 0) / 1_000),
    );
    metrics.counter(
      'webhook_batches_total',
      'Batches of audit entries that this replica has posted, by whether the receiver took them.',
      () => Object.entries(this.#counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
      ['outcome'],
    );
  }

  /** Sends what becomes final until the signal aborts. A batch that is being sent is still finished. Never rejects. */
  async run(stopped: AbortSignal): Promise<void> {
    for await (const { reached } of this.#tail.horizon.values(stopped)) {
      if (reached === undefined || reached.id === this.#idleAt) continue;
      try {
        while (!stopped.aborted && (await this.#sendNext(reached.id)));
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) this.#logger.warn({ err: error }, 'webhooks could not be sent');
        this.#isFailing = true;
      }
    }
  }

  /** Sends a batch, if there is one and its time has come. Resolves with whether there may be another one now. */
  async #sendNext(reachedId: number): Promise<boolean> {
    const service = this.#service;
    const [delivery] = await this.#query(readDelivery({ service }));
    if (delivery === undefined || !this.#hasBegun) {
      await this.#query(beginDelivery({ service, sentId: reachedId }));
      this.#hasBegun = true;
      return true;
    }
    const { sentId, batchEnd, isDue } = delivery;
    if (reachedId < (batchEnd ?? sentId + 1)) return this.#rest(reachedId);
    const { entries, position } = await this.#tail.pageAfter({ id: sentId, micros: 0 }, { signal: new CallSignal() });
    const batch = entries.filter(({ row }) => Number(row.id) <= (batchEnd ?? position.id)).slice(0, maxBatch);
    const [oldest, last] = [batch[0], batch.at(-1)];
    if (oldest === undefined || last === undefined) {
      if (position.id - sentId < passedIds) return this.#rest(reachedId);
      await this.#query(completeBatch({ service, sentId, batchEnd: position.id }));
      return true;
    }
    this.#oldestMs = oldest.row.at.getTime();
    const next = { service, sentId, batchEnd: Number(last.row.id) };
    if (!isDue || (await this.#query(claimBatch(next))).length === 0) return false;
    const id = `${service}-${last.row.id}-${last.row.atMicros}`;
    const problem = await this.#post(id, `[${batch.map((entry) => toEventJson(service, entry)).join()}]`);
    if (problem === undefined) {
      this.#counts.taken += 1;
      await this.#query(completeBatch(next));
      return true;
    }
    this.#counts.refused += 1;
    const [delayed] = await this.#query(delayBatch(next));
    this.#logger.warn({ ...delayed, problem, webhookId: id }, 'a webhook was not taken, and is sent again');
    return false;
  }

  /** Nothing is left to send until the horizon moves. */
  #rest(reachedId: number): false {
    this.#oldestMs = undefined;
    this.#idleAt = reachedId;
    return false;
  }

  /** Resolves with undefined if the receiver has taken the batch, else with the reason, which holds no secret. */
  async #post(id: string, body: string): Promise<string | undefined> {
    const at = new Date(this.#database.clock.now());
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: {
          'content-type': batchType,
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': this.#signers.map((signer) => signer.sign(id, at, body)).join(' '),
        },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(answerWithinMs),
      });
      await response.body?.cancel();
      return response.ok ? undefined : `status ${response.status}`;
    } catch (error) {
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      return cause instanceof Error ? String(Reflect.get(cause, 'code') ?? cause.name) : 'no answer';
    }
  }

  #query<Row>(statement: BoundStatement<Row>): Promise<Row[]> {
    return this.#database.for({ signal: new CallSignal() }).query(statement);
  }
}
