import { statement } from '../../../shared/db/statement.ts';
import type { ServiceParts } from '../../../shared/runtime/start-service.ts';

const everyMs = 5_000;
/** How long a request may wait for its job, in addition to the job's delay. */
const graceMs = 8_000;

// A running refresh counts as taking care of them, however long it takes.
const overdueRequests = statement<{ areOverdue: boolean }, { ms: number }>(
  'overdueRequests',
  `select exists (
     select from store_refresh_requests where requested_at < now() - $ms::integer * interval '1 ms'
   ) and not exists (
     select from pg_locks where relation = 'store_versions'::regclass and mode = 'ExclusiveLock' and granted
       and database = (select oid from pg_database where datname = current_database())
   ) as "areOverdue"`,
);

/** The actions of a sweep that finds overdue requests. */
interface SweepOptions {
  refresh(stopped: AbortSignal): Promise<void>;
  /** Repairs the job queue, which has left requests waiting. */
  mendQueue(): Promise<void>;
}

/**
 * Starts the sweep (design 4). Each replica looks for requests that no job has taken in time, by PostgreSQL's
 * clock and without the queue, and refreshes the stores for them. BullMQ makes refreshes prompt. The sweep guarantees
 * them within 30 s, even if the queue, its jobs or its connections fail.
 */
export function startSweep(
  { config, database, logger, metrics, shutdown }: ServiceParts,
  { refresh, mendQueue }: SweepOptions,
): void {
  const stopped = new AbortController();
  let sweptFor = 0;
  metrics.counter(
    'store_refresh_sweeps_total',
    'Refreshes by the sweep, because the job queue had run none in time.',
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
