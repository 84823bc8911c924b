import type { Logger } from 'pino';
import type { Caller } from '../../../shared/db/caller.ts';
import type { Database } from '../../../shared/db/database.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import { Latest } from '../../../shared/reads/latest.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { slotErrors } from '../errors.ts';
import { covers, loadStores, type StoreContent } from './content.ts';
import { latestVersion } from './refresh.ts';
import { parseStoreRequest, type StoreRequest } from './requests.ts';

const retryMs = 1_000;
const loadTimeoutMs = 30_000;

/** A caller with a real AbortSignal, which `node:events` requires. */
type WaitingCaller = Caller & { readonly signal: AbortSignal };

interface RequestState {
  timeline: number;
  isInFuture: boolean;
  isCovered: boolean;
  isPending: boolean;
}

const requestState = statement<RequestState, { timeline: number; transaction: string }>(
  'requestState',
  `select wal_timeline() as "timeline",
     $transaction::xid8 >= pg_snapshot_xmax(now) as "isInFuture",
     exists (
       select from (select timeline, snapshot from store_versions order by version desc limit 1) as newest
       where timeline = $timeline and pg_visible_in_snapshot($transaction::xid8, snapshot)
     ) as "isCovered",
     exists (select from store_refresh_requests) as "isPending"
   from pg_current_snapshot() as now`,
);

/** This process's copy of the derived stores. A new version replaces it as a whole. */
export class StoreReplica {
  readonly #database: Database;
  readonly #logger: Logger;
  /** Aborts when the service begins to stop, which ends all waits. */
  readonly #draining: AbortSignal;
  readonly #content: Latest<StoreContent>;
  #loading: Promise<void> | undefined;
  #loadAgain = false;

  private constructor(content: StoreContent, database: Database, draining: AbortSignal, logger: Logger) {
    this.#content = new Latest(content, draining);
    this.#database = database;
    this.#draining = draining;
    this.#logger = logger;
  }

  /** Loads the newest version. Rejects if there is none. */
  static async open(database: Database, draining: AbortSignal, logger: Logger): Promise<StoreReplica> {
    const content = await loadStores(database, undefined, AbortSignal.timeout(loadTimeoutMs));
    if (content === undefined) throw new Error('there is no version of the derived stores');
    return new StoreReplica(content, database, draining, logger);
  }

  get content(): StoreContent {
    return this.#content.value;
  }

  /** Loads the newest version. Calls during a load cause one more load. Never throws. */
  load(): void {
    this.#loadAgain = true;
    this.#loading ??= this.#loadWhileAsked().finally(() => {
      this.#loading = undefined;
    });
  }

  async #loadWhileAsked(): Promise<void> {
    while (this.#loadAgain) {
      this.#loadAgain = false;
      try {
        const content = await loadStores(this.#database, this.content, AbortSignal.timeout(loadTimeoutMs));
        if (content === undefined || content === this.content) continue;
        if (content.version <= this.content.version) {
          const versions = { from: this.content.version, to: content.version };
          this.#logger.warn(versions, 'the database was set back: its version of the stores is taken over');
        }
        this.#content.value = content;
      } catch (error) {
        this.#logger.warn({ err: error }, 'the derived stores could not be loaded');
        // Without this retry, nothing would load again until the next version.
        if (!this.#draining.aborted) setTimeout(() => this.load(), retryMs).unref();
      }
    }
  }

  /**
   * Resolves with the loaded version. A call with the header `store-request-id` first waits until it covers that write
   * (design 4). Rejects as `untilCovers` does.
   */
  async read(call: CallContext): Promise<StoreContent> {
    const requestId = call.header('store-request-id');
    if (requestId !== undefined) {
      call.releasePermit();
      await this.untilCovers(requestId, { subject: call.subject, signal: call.signal.toAbortSignal() });
      await call.takePermit();
    }
    return this.content;
  }

  /**
   * Waits until the loaded version covers a write (design 4).
   *
   * @param requestId the `store-request-id` of the write.
   * @throws INVALID_ARGUMENT for an id that belongs to no write, ABORTED for a write that the database may have lost,
   * the reason of the caller's signal when it aborts, STOPPING when the service begins to stop.
   */
  async untilCovers(requestId: string, caller: WaitingCaller): Promise<void> {
    const request = parseStoreRequest(requestId);
    if (request === undefined) throw invalidField('store-request-id', 'is not the id of a write');
    for await (const content of this.versions(caller.signal)) {
      if (covers(content, request)) return;
      await this.#throwIfNeverCovered(request, caller);
    }
    caller.signal.throwIfAborted();
    this.#draining.throwIfAborted();
  }

  /** Throws if no version will ever cover the request. */
  async #throwIfNeverCovered({ timeline, transaction }: StoreRequest, caller: Caller): Promise<void> {
    const db = this.#database.for(caller);
    const state = onlyRow(await db.query(requestState({ timeline, transaction: String(transaction) })));
    if (state.isCovered) return;
    // A recovery or a failover has come after the write, and may have lost it.
    if (timeline !== state.timeline) throw fail(slotErrors.storeRequestLost);
    if (state.isInFuture) throw invalidField('store-request-id', 'is of no write that has happened');
    if (!state.isPending) throw fail(slotErrors.storeRequestLost);
  }

  /** Whether a recovery or a failover has made the database lose a version that some replica has shown. */
  async hasLost(version: number, caller: Caller): Promise<boolean> {
    if (version <= this.content.version) return false;
    const [newest] = await this.#database.for(caller).query(latestVersion());
    return newest !== undefined && newest.version < version;
  }

  /** Yields the loaded version, then each later one, until the signal aborts or the service begins to stop. */
  versions(signal: AbortSignal): AsyncIterable<StoreContent> {
    return this.#content.values(signal);
  }
}
