import { migrate } from '../../shared/db/migrate.ts';
import { loadAuditData } from './data-audit.ts';
import { loadBenchData } from './data-load.ts';
import { startBenchPostgres } from './data-postgres.ts';
import { loadProducts } from './data-products.ts';
import { loadSlots } from './data-slots.ts';
import { positive, readOptions } from './program.ts';

// npm run bench:data -- [--scale 0.01] [--products 1000000] [--slots 10000] [--entries 10000000]: loads the benchmark's data, up
// to so many products, so many slots of 20 products, and so many audit entries, into the database at DATABASE_URL, which must hold
// no coupons. Without one it starts a PostgreSQL of its own, and keeps it until Ctrl-C.

const { options: values } = readOptions({ scale: '1', products: '0', slots: '0', entries: '0' });
const scale = positive(values, 'scale');

const given = process.env.DATABASE_URL;
const postgres = given ? undefined : await startBenchPostgres();
try {
  const url = given || (await postgres?.createDatabase('bench')) || '';
  await migrate(url);
  const started = performance.now();
  const rows = await loadBenchData(url, scale);
  if (Number(values.products) > 0) await loadProducts(url, Number(values.products));
  if (Number(values.slots) > 0) await loadSlots(url, Number(values.slots));
  if (Number(values.entries) > 0) await loadAuditData(url, Number(values.entries));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`loaded in ${seconds} s: ${JSON.stringify(rows)}`);
  if (postgres) {
    console.log(`DATABASE_URL=${url}\nPress Ctrl-C to stop this PostgreSQL and remove its data.`);
    await new Promise<never>(() => setInterval(() => undefined, 60_000));
  }
} finally {
  await postgres?.stop();
}
