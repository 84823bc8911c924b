import path from 'node:path';
import { expect, inject, it } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import {
  contentOfBoth,
  createDatabaseFrom,
  createOldDatabase,
  migrationFiles,
  migrations,
} from '../support/old-database.ts';
import { statementsOfRelease, underStatements } from '../support/old-load.ts';
import { queryOnce } from '../support/postgres-server.ts';
import { readReleaseBefore } from '../support/release-before.ts';

const size = 100_000;
/** Adds rows to the tables whose indexes take longest. */
const million = `
  insert into users (name, email, mobile)
    select 'User ' || n, 'user' || n || '@example.com', (8000000000 + n)::text from generate_series(1, 900000) n;
  insert into coupons (coupon_code, discount_percent, created_by) select 'MILLION-' || n, 10, 1 from generate_series(1, 900000) n;
  insert into audit_entries (procedure, subject, staff_id, request_id, resource_type, resource_id, before, after)
    select 'slot.v1.SlotService/UpdateSlot', 'staff', 1, 'request-' || n, 'slot', n, '{"isActive":false}', '{"isActive":true}'
    from generate_series(1, 900000) n;
  insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at)
    select n, n, 'million-' || n, 100, 12.5, 'USED', now() from generate_series(1, 900000) n;
  vacuum analyze`;

it('The schema of the release before, with 100,000 rows in every table and 1,000,000 in the largest, migrates to the newest one under reads and writes', {
  timeout: 1_800_000,
}, async () => {
  const { migrations: released } = await readReleaseBefore();
  const before = migrations.slice(0, migrationFiles.filter((file) => file in released).length);
  const url = await createOldDatabase(size, before);
  for (const statement of million.split(';')) await queryOnce(url, statement);
  const { name: copy } = await createDatabaseFrom(path.basename(url));
  const startedAt = performance.now();
  const tookMs = await underStatements(url, () => migrate(url), statementsOfRelease);
  const [median, p95, longest] = [0.5, 0.95, 1].map((share) =>
    Math.round(tookMs[Math.ceil(tookMs.length * share) - 1] ?? 0),
  );
  console.info(
    `migrated in ${Math.round(performance.now() - startedAt)} ms; ${tookMs.length} statements meanwhile: ` +
      `median ${median} ms, p95 ${p95} ms, longest ${longest} ms`,
  );
  expect(p95).toBeLessThan(500);
  const [had, has] = await contentOfBoth(`${inject('postgresUrl')}/${copy}`, url);
  expect(has).toEqual(had);
});
