import { loadStores } from '../../services/slot-service/stores/content.ts';
import { refreshStores } from '../../services/slot-service/stores/refresh.ts';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import { statement } from '../../shared/db/statement.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { median } from './median.ts';

// Times one kind of work in a process of its own, so that its peak memory is its own: `refresh` builds
// a version and loads it, `scan` reads the same rows into memory.

const scanRows = statement(
  'scan',
  `select id, delivery_time, freeze_time, is_capacity_full, product_id
   from slots join product_slots on slot_id = id where is_active`,
);
const request = statement('request', 'insert into store_refresh_requests default values');

const config = readConfig('slot', process.env);
const database = new Database(config.database, createLogger('bench', 'warn'));
const never = new AbortController().signal;
const db = database.for({ signal: never });

const works: Record<string, () => Promise<unknown>> = {
  scan: () => db.query(scanRows()),
  async refresh() {
    await refreshStores(database, never);
    return loadStores(db);
  },
};
const work = works[process.argv[2] ?? ''];
if (work === undefined) throw new Error('give refresh or scan');

const baseMb = process.memoryUsage().rss / 2 ** 20;
const times: number[] = [];
for (let round = 0; round < 12; round += 1) {
  await db.query(request());
  const start = performance.now();
  await work();
  if (round > 1) times.push(performance.now() - start);
}
const peakMb = process.resourceUsage().maxRSS / 1024;
process.send?.({ ms: median(times), peakMb: peakMb - baseMb });
await database.close();
