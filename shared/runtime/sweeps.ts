import type { Logger } from 'pino';
import { sweepEntries } from '../audit/retention.ts';
import { CallSignal } from '../cancellation/signal.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import { type BoundStatement, onlyRow, type Queryable } from '../db/statement.ts';
import { sweepKeys } from '../rpc/idempotency/key.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ShutdownStack } from './shutdown.ts';

const everyMs = 30_000;
/** The most rows that one statement deletes or marks. It locks them for a few milliseconds. */
const most = 1_000;

/** The parts of a service that sweeps need. */
interface SweptService {
  readonly config: ServiceConfig;
  readonly database: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly shutdown: ShutdownStack;
  /** The service's own sweeps. */
  readonly sweeps: Sweeps;
}

/** Sweeps at most so many rows of a table. Resolves with how many. */
export type Sweep = (db: Queryable, bounds: { readonly most: number }) => Promise<number>;

/** Returns the sweep of a statement, which has one row. `then` is called with that. */
export const sweepBy =
  <Row extends { swept: number }>(
    make: (bounds: { readonly most: number }) => BoundStatement<Row>,
    then: (row: Row) => void = () => undefined,
  ): Sweep =>
  async (db, bounds) => {
    const row = onlyRow(await db.query(make(bounds)));
    then(row);
    return row.swept;
  };

/** Sweeps by the name of their table. */
export type Sweeps = Record<string, Sweep>;

/**
 * Deletes expired rows: idempotency keys, and audit entries if their retention is limited. Then runs the service's own
 * sweeps. Every replica sweeps every 30 s, and skips rows that another one has locked.
 */
export function startSweeps({ config, database, logger, metrics, shutdown, sweeps: own }: SweptService): void {
  const sweeps = { ...sweepsOf(config), ...own };
  const swept = countSwept(metrics, Object.keys(sweeps));
  const signal = new CallSignal();
  /** Sweeps a table once. Resolves with whether there may be more to sweep. */
  const sweepOnce = async (table: string, sweep: Sweep) => {
    try {
      const rows = await sweep(database.for({ signal }), { most });
      swept(table, rows);
      return rows >= most;
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error, table }, 'a sweep failed');
      return false;
    }
  };
  // Tables take turns: where much has expired in one, holds of another are marked in time.
  const sweepAll = async () => {
    for (let due = Object.entries(sweeps); due.length > 0; ) {
      const more: typeof due = [];
      for (const [table, sweep] of due) if (await sweepOnce(table, sweep)) more.push([table, sweep]);
      due = more;
    }
  };
  let sweeping = sweepAll();
  const timer = setInterval(() => {
    sweeping = sweeping.then(sweepAll);
  }, everyMs).unref();
  shutdown.push({
    name: 'sweeps',
    async stop() {
      clearInterval(timer);
      signal.abort(() => new Error('the service stops'));
      await sweeping;
    },
  });
}

function sweepsOf({ idempotencyTtlHours: hours }: ServiceConfig): Sweeps {
  const keys = sweepBy(({ most }) => sweepKeys({ hours, most }));
  return { idempotency_keys: keys, audit_entries: sweepBy(sweepEntries) };
}

/** Registers the metric of the sweeps. Returns a function that counts swept rows of a table. */
function countSwept(metrics: Metrics, tables: readonly string[]): (table: string, rows: number) => void {
  const counts = new Map(tables.map((table) => [table, 0]));
  metrics.counter(
    'rows_swept_total',
    'Rows that were deleted because their time had passed; of redemptions and slot_bookings, holds that were marked as expired, of webhook_deliveries, those that ended, of unfolded_uses, those that were folded.',
    () => [...counts].map(([table, value]) => ({ labels: { table }, value })),
    ['table'],
  );
  return (table, rows) => void counts.set(table, (counts.get(table) ?? 0) + rows);
}
