import { statement } from '../../../shared/db/statement.ts';
import type { ServiceParts } from '../../../shared/runtime/start-service.ts';

const everyMs = 5_000;
/** How much longer than its delay a request may wait for its job. */
const graceMs = 8_000;

// A refresh that is running has them in hand, however long it takes.
const overdueRequests = statement<{ areOverdue: boolean }, { ms: number }>(
  'overdueRequests',
  `select exists (
     select from store_refresh_requests where requested_at < now() - $ms::integer * interval '1 ms'
   ) and not exists (
     select from pg_locks where relation = 'store_versions'::regclass and mode = 'ExclusiveLock' and granted
       and database = (select oid from pg_database where datname = current_database())
   ) as "areOverdue"`,
);

/** What a sweep does with the requests that it finds. */
interface SweepOptions {
  refresh(stopped: AbortSignal): Promise<void>;
  /** Puts the job queue in order, which has left requests waiting. */
  mendQueue(): Promise<void>;
}

/**
 * Starts the sweep (design 4, step 4): each replica looks for requests that no job has taken in time, by PostgreSQL's clock and without
 * the queue, and refreshes the stores for them. BullMQ makes a refresh prompt; this makes it certain, within 30 s, whatever
 * has become of the queue, its jobs and its connections.
 */
export function startSweep(
  { config, database, logger, metrics, shutdown }: ServiceParts,
  { refresh, mendQueue }: SweepOptions,
): void {
  const stopped = new AbortController();
  let sweptFor = 0;
  metrics.counter(
    { name: 'store_refresh_sweeps_total', help: 'Refreshes by the sweep, because the job queue had run none in time.' },
    () => sweptFor,
  );

  async function sweep(): Promise<void> {
    const db = database.for({ signal: stopped.signal });
    const [found] = await db.query(overdueRequests({ ms: config.storeRefreshDelayMs + graceMs }));
    if (!found?.areOverdue) return;
    sweptFor += 1;
    logger.warn('the job queue has left refresh requests waiting: the sweep refreshes the stores');
    await refresh(stopped.signal);
    await mendQueue();
  }

  let sweeping: Promise<void> | undefined;
  const timer = setInterval(() => {
    sweeping ??= sweep()
      .catch((error: unknown) => {
        if (!stopped.signal.aborted) logger.warn({ err: error }, 'the sweep of refresh requests failed');
      })
      .finally(() => {
        sweeping = undefined;
      });
  }, everyMs).unref();
  shutdown.push({
    name: 'sweep',
    async stop() {
      clearInterval(timer);
      stopped.abort(new Error('the service stops'));
      await sweeping;
    },
  });
}
