import { EventEmitter, on } from 'node:events';
import type { Logger } from 'pino';
import { type Database, statement } from '../../../shared/db/database.ts';
import { invalidField } from '../../../shared/rpc/errors.ts';
import { sees } from './snapshot.ts';
import { loadStores, type StoreContent } from './store.ts';

const loaded = 'loaded';

const requestState = statement<{ isToCome: boolean; isOver: boolean; version: number }>(
  'requestState',
  `select $1::xid8 >= pg_snapshot_xmax(now) as "isToCome",
     pg_visible_in_snapshot($1::xid8, now) and not exists (select from store_refresh_requests) as "isOver",
     (select max(version) from store_versions) as version
   from pg_current_snapshot() as now`,
);

/** This process's copy of the derived stores, swapped whole when a new version is loaded. */
export class StoreReplica {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #content: StoreContent;
  #loading: Promise<void> | undefined;
  #loadAgain = false;

  private constructor(content: StoreContent, database: Database, logger: Logger) {
    this.#content = content;
    this.#database = database;
    this.#logger = logger;
  }

  /** Loads the newest version, which must exist. */
  static async open(database: Database, logger: Logger): Promise<StoreReplica> {
    const content = await loadStores(database.during(AbortSignal.timeout(30_000)));
    if (content === undefined) throw new Error('there is no version of the derived stores');
    return new StoreReplica(content, database, logger);
  }

  get content(): StoreContent {
    return this.#content;
  }

  /** Loads what is newest now; calls during a load make one more load. Never throws. */
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
        const content = await loadStores(this.#database.during(AbortSignal.timeout(30_000)));
        if (content === undefined || content.version <= this.#content.version) continue;
        this.#content = content;
        this.#events.emit(loaded);
      } catch (error) {
        // The listener's next connection loads again.
        this.#logger.warn({ err: error }, 'the derived stores could not be loaded');
      }
    }
  }

  /**
   * Waits until the loaded version covers a write (design 4).
   *
   * @param requestId the `store-request-id` of the write.
   * @throws INVALID_ARGUMENT for an id that no write can have; the signal's reason when it aborts.
   */
  async covers(requestId: string, signal: AbortSignal): Promise<void> {
    const id = /^[1-9]\d{0,18}$/.test(requestId) ? BigInt(requestId) : undefined;
    if (id === undefined) throw invalidField('store-request-id', 'is not the id of a write');
    if (sees(this.#content.snapshot, id)) return;
    const [state] = await this.#database.during(signal).query(requestState, [requestId]);
    if (state?.isToCome) throw invalidField('store-request-id', 'is of no write that has happened');
    // An id that no request waits under, such as that of another transaction, is covered by what is
    // newest now.
    const enough = state?.isOver ? state.version : Number.POSITIVE_INFINITY;
    for await (const { snapshot, version } of this.versions(signal)) {
      if (version >= enough || sees(snapshot, id)) return;
    }
    signal.throwIfAborted();
  }

  /** The loaded version, then each one loaded after it, until the signal aborts. */
  async *versions(signal: AbortSignal): AsyncIterable<StoreContent> {
    if (signal.aborted) return;
    const changes = on(this.#events, loaded, { signal });
    try {
      let sent = this.#content;
      yield sent;
      for await (const _change of changes) {
        if (sent === this.#content) continue;
        sent = this.#content;
        yield sent;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await changes.return?.();
    }
  }
}
