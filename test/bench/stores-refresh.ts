import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { StoreContent } from '../../services/slot-service/stores/content.ts';
import { loadStores } from '../../services/slot-service/stores/content.ts';
import { refreshStores } from '../../services/slot-service/stores/refresh.ts';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import { statement } from '../../shared/db/statement.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { median } from './median.ts';

// Times one kind of work in a process of its own, so that its peak memory is its own: `all` stores all slots as a version and
// loads it, `changed` does the same for one slot that was changed, and `scan` reads the same rows into memory.

/** What one kind of work took: medians, but for the peaks. */
export interface RefreshReport {
  readonly ms: number;
  readonly peakMb: number;
  /** How long the event loop was not free. */
  readonly stallMs: number;
}

const rounds = 12;

const scanRows = statement(
  'scan',
  `select id, delivery_time, freeze_time, is_capacity_full, product_id
   from slots join product_slots on slot_id = id where is_active`,
);
const askForAll = statement('askForAll', 'insert into store_refresh_requests default values');
const change = statement<never, { slotId: number }>(
  'change',
  `with changed as (update slots set freeze_time = freeze_time + interval '1 s' where id = $slotId returning id)
   insert into store_refresh_requests (slot_id) select id from changed`,
);

const config = readConfig('slot', process.env);
// The scan of 2,000,000 rows takes longer than a statement of the service may.
const database = new Database({ ...config.database, statementTimeoutMs: 60_000 }, createLogger('bench', 'warn'));
const never = new AbortController().signal;
const db = database.for({ signal: never });
let loaded: StoreContent | undefined;

const works: Record<string, (round: number) => Promise<unknown>> = {
  scan: () => db.query(scanRows()),
  async all() {
    await db.query(askForAll());
    await refreshStores(database, never);
    loaded = await loadStores(database, undefined, never);
  },
  async changed(round) {
    await db.query(change({ slotId: 1 + round }));
    await refreshStores(database, never);
    loaded = await loadStores(database, loaded, never);
  },
};
const work = works[process.argv[2] ?? ''];
if (work === undefined) throw new Error('give scan, all or changed');

const baseMb = process.memoryUsage().rss / 2 ** 20;
const delay = monitorEventLoopDelay({ resolution: 1 });
const times: number[] = [];
const stalls: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  delay.reset();
  delay.enable();
  const start = performance.now();
  await work(round);
  const ms = performance.now() - start;
  delay.disable();
  if (round < 2) continue;
  times.push(ms);
  stalls.push(delay.max / 1e6);
}
const peakMb = process.resourceUsage().maxRSS / 1024;
const report: RefreshReport = { ms: median(times), peakMb: peakMb - baseMb, stallMs: Math.max(...stalls) };
process.send?.(report);
await database.close();
