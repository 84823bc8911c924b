import type { Logger } from 'pino';
import { Webhook } from 'standardwebhooks';
import { isPassed, nothingPassed } from '../audit/passed.ts';
import type { EntryTail } from '../audit/tail.ts';
import { CallSignal } from '../cancellation/signal.ts';
import type { EventsConfig } from '../config/events.ts';
import type { Database } from '../db/database.ts';
import { type BoundStatement, onlyRow } from '../db/statement.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { batchType, toEventJson } from './cloud-event.ts';
import {
  beginDelivery,
  type Claimed,
  claimBatch,
  completeBatch,
  type Delivery,
  delayBatch,
  passEntries,
  readDelivery,
  resumeDelivery,
} from './deliveries.ts';

const maxBatch = 100;
const answerWithinMs = 10_000;
/**
 * Entries of the other service are passed when they fill a page, or after this time, so that retention may delete them.
 */
const passAfterMs = 60_000;

/** The parts of a service that webhooks need. */
interface NotifyingService {
  readonly config: { readonly database: { readonly applicationName: string } };
  readonly database: Database;
  readonly logger: Logger;
  readonly shutdown: { push(step: { readonly name: string; stop(): Promise<void> }): void };
}

/** Starts to post a service's audit entries to EVENTS_URL, in their final order (design 14). */
export async function startWebhooks(
  service: NotifyingService,
  events: EventsConfig,
  tail: EntryTail,
  state: WebhookState,
): Promise<void> {
  const webhooks = new Webhooks(service, events, tail, state);
  await webhooks.begin();
  const stopped = new AbortController();
  const running = webhooks.run(stopped.signal);
  service.shutdown.push({
    name: 'webhooks',
    async stop() {
      stopped.abort();
      await running;
    },
  });
}

/** What the metrics tell of a replica's webhooks. */
export class WebhookState {
  taken = 0;
  refused = 0;
  /** The time of the oldest entry that was not taken, and the id that it comes after. */
  oldest: { readonly ms: number; readonly after: number } | undefined;

  registerMetrics(metrics: Metrics, { clock }: Database): void {
    metrics.gauge(
      'webhook_oldest_entry_seconds',
      'How long the oldest audit entry waits that the receiver of webhooks has not taken; 0: none.',
      () => (this.oldest === undefined ? 0 : Math.max(clock.now() - this.oldest.ms, 0) / 1_000),
    );
    metrics.counter(
      'webhook_batches_total',
      'Batches of audit entries that this replica has posted, by whether the receiver took them.',
      () => ['taken' as const, 'refused' as const].map((outcome) => ({ labels: { outcome }, value: this[outcome] })),
      ['outcome'],
    );
  }
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
  readonly #state: WebhookState;
  /** Up to here there was nothing to send. */
  #idleAt = -1;
  #passedAtMs = Number.NEGATIVE_INFINITY;
  /** What was committed when this replica began webhooks for the first time. */
  #passed = nothingPassed;
  /** A batch that was taken, until that is written. */
  #taken: Claimed | undefined;
  #hasBegun = false;
  #isFailing = false;

  constructor(
    { config, database, logger }: NotifyingService,
    events: EventsConfig,
    tail: EntryTail,
    state: WebhookState,
  ) {
    this.#service = config.database.applicationName;
    this.#database = database;
    this.#logger = logger;
    this.#tail = tail;
    this.#state = state;
    this.#url = events.url;
    this.#signers = events.secrets.map((secret) => new Webhook(secret));
  }

  /** Fixes what the first webhook begins after. Never rejects: a database that takes no writes is asked again. */
  async begin(): Promise<void> {
    const service = this.#service;
    await this.#try(async () => {
      const [passed = this.#passed] = await this.#query(beginDelivery({ service }));
      this.#passed = passed;
      await this.#query(resumeDelivery({ service }));
    });
    this.#hasBegun = !this.#isFailing;
  }

  /** Sends what becomes final until the signal aborts. A batch that is being sent is still finished. Never rejects. */
  async run(stopped: AbortSignal): Promise<void> {
    let knownSetBacks = 0;
    for await (const { reached, setBacks } of this.#tail.horizon.values(stopped)) {
      // The ids are given again.
      if (setBacks > knownSetBacks) this.#passed = nothingPassed;
      knownSetBacks = setBacks;
      if (!this.#hasBegun) await this.begin();
      const isIdle = reached?.id === this.#idleAt && performance.now() - this.#passedAtMs < passAfterMs;
      if (reached === undefined || isIdle || !this.#hasBegun) continue;
      await this.#try(async () => {
        while (!stopped.aborted && (await this.#sendNext(reached.id)));
      });
    }
  }

  async #try(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#logger.warn({ err: error }, 'webhooks have to wait for the database');
      this.#isFailing = true;
    }
  }

  /** Sends a batch, if there is one and its time has come. Resolves with whether there may be another one now. */
  async #sendNext(reachedId: number): Promise<boolean> {
    const service = this.#service;
    await this.#complete();
    const delivery = onlyRow(await this.#query(readDelivery({ service })));
    const { sentId, batchEnd, isDue } = delivery;
    // The database was set back to before the first start.
    if (sentId === null) this.#hasBegun = false;
    if (sentId === null || (!isDue && sentId === this.#state.oldest?.after)) return false;
    if (batchEnd !== null && reachedId < batchEnd) return false;
    const { entries, position } =
      reachedId > sentId ? await this.#tail.pageAfter({ id: sentId, micros: 0 }, process) : nothingAfter(sentId);
    const end = Math.min(batchEnd ?? position.id, position.id);
    const isSent = (id: number) => id <= end && !isPassed(id, this.#passed);
    const batch = entries.filter(({ row }) => isSent(Number(row.id))).slice(0, maxBatch);
    const [first, last] = [batch[0], batch.at(-1)];
    this.#state.oldest = first && { ms: first.row.at.getTime(), after: sentId };
    if (first === undefined || last === undefined) return this.#pass({ sentId, batchEnd, isDue }, end, reachedId);
    if (!isDue) return false;
    const lastId = batchEnd === null ? Number(last.row.id) : end;
    const [claim] = await this.#query(claimBatch({ service, sentId, triedEnd: batchEnd, batchEnd: lastId }));
    if (claim === undefined) return false;
    const claimed = { service, batchEnd: lastId, claims: claim.claims };
    const id = `${service}-${first.row.id}-${last.row.id}-${last.row.atMicros}`;
    const problem = await this.#post(id, `[${batch.map((entry) => toEventJson(service, entry)).join()}]`);
    if (problem === undefined) {
      this.#state.taken += 1;
      this.#taken = claimed;
      await this.#complete();
      return true;
    }
    this.#state.refused += 1;
    const [delayed] = await this.#query(delayBatch(claimed));
    this.#logger.warn({ ...delayed, problem, webhookId: id }, 'a webhook was not taken, and is sent again');
    return false;
  }

  async #complete(): Promise<void> {
    if (this.#taken !== undefined) await this.#query(completeBatch(this.#taken));
    this.#taken = undefined;
  }

  /** Passes what has no entry of the service. Resolves with whether there is more. */
  async #pass(
    { sentId, batchEnd, isDue }: Delivery & { readonly sentId: number },
    upTo: number,
    reachedId: number,
  ): Promise<boolean> {
    const isMore = upTo < reachedId;
    if (!isMore) this.#idleAt = reachedId;
    if (!isDue) return false;
    const isLate = performance.now() - this.#passedAtMs >= passAfterMs;
    if (upTo > sentId && (isMore || isLate)) {
      await this.#query(passEntries({ service: this.#service, sentId, batchEnd, upTo }));
    }
    if (isMore || isLate) this.#passedAtMs = performance.now();
    return isMore;
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
      return cause instanceof Error ? problemOf(cause) : 'no answer';
    }
  }

  #query<Row>(statement: BoundStatement<Row>): Promise<Row[]> {
    return this.#database.for(process).query(statement);
  }
}

/** Its statements belong to no call, and nothing aborts them. */
const process = { signal: new CallSignal() };

const nothingAfter = (id: number) => ({ entries: [], position: { id, micros: 0 } });

/** A code such as ECONNREFUSED, or a name such as TimeoutError. Only these have no secret in them for certain. */
function problemOf(error: Error): string {
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : error.name === 'Error' ? error.message : error.name;
}
