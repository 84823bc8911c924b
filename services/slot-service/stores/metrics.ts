import type { Database } from '../../../shared/db/database.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { type Metrics, oneAtATime } from '../../../shared/telemetry/metrics.ts';
import { filledSlots } from './content.ts';
import type { StoreReplica } from './replica.ts';

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const refreshBacklog = statement<{ pending: number; oldestSeconds: number }>(
  'refreshBacklog',
  `select count(*)::integer as pending,
     coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as "oldestSeconds"
   from store_refresh_requests`,
);

const countFilled = statement<{ filled: number }>(
  'slotsFilled',
  `select count(*)::integer as filled from ${filledSlots}`,
);

/** Counts and times the refreshes that this replica runs. */
export interface RefreshMetrics {
  succeeded(seconds: number): void;
  failed(): void;
}

/** Registers the metrics of refreshes. */
export function createRefreshMetrics(metrics: Metrics): RefreshMetrics {
  const durations = metrics.histogram(
    'store_refresh_seconds',
    'How long the refreshes that this replica ran took.',
    buckets,
  );
  let failures = 0;
  metrics.counter('store_refresh_failures_total', 'Refreshes that failed; they are tried again.', () => failures);
  return {
    succeeded: (seconds) => durations.observe(seconds),
    failed() {
      failures += 1;
    },
  };
}

/** Registers the metrics of a replica's copy of the stores, of the pending refresh requests and of full slots. */
export function registerStoreMetrics(metrics: Metrics, replica: StoreReplica, database: Database): void {
  metrics.gauge('store_version', 'The version of the stores that this replica serves.', () => replica.content.version);
  metrics.gauge(
    'store_age_seconds',
    'Time since that version was built; it grows while nobody writes.',
    () => Math.max(database.clock.now() - replica.content.refreshedAt, 0) / 1_000,
  );
  const backlog = oneAtATime(async () => {
    const [row] = await database.measure(refreshBacklog());
    return row ?? { pending: 0, oldestSeconds: 0 };
  });
  metrics.gauge(
    'store_refresh_requests_pending',
    'Committed writes that no refresh has covered yet.',
    async () => (await backlog()).pending,
  );
  metrics.gauge(
    'store_refresh_oldest_request_seconds',
    'How long the oldest of them waits.',
    async () => (await backlog()).oldestSeconds,
  );
  metrics.gauge(
    'slots_filled',
    'Slots that the stores leave out only because bookings have filled them.',
    async () => onlyRow(await database.measure(countFilled())).filled,
  );
}
