import { expect, inject, it } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { contentOfBoth, createDatabaseFrom, createOldStates, migrations } from '../support/old-database.ts';
import { underStatements } from '../support/old-load.ts';

const size = 100_000;
/** The schema of release 0.9.0. */
const before = '0023_slot_plan';

it('The schema of the release before, with 100,000 rows in every table, migrates to the newest one under reads and writes', {
  timeout: 1_800_000,
}, async () => {
  const states = await createOldStates(size, migrations.slice(0, migrations.indexOf(before) + 1));
  const template = states.get(before);
  const { url } = await createDatabaseFrom(template);
  const startedAt = performance.now();
  const tookMs = await underStatements(url, () => migrate(url));
  const [median, p95, longest] = [0.5, 0.95, 1].map((share) =>
    Math.round(tookMs[Math.ceil(tookMs.length * share) - 1] ?? 0),
  );
  console.info(
    `migrated in ${Math.round(performance.now() - startedAt)} ms; ${tookMs.length} statements meanwhile: ` +
      `median ${median} ms, p95 ${p95} ms, longest ${longest} ms`,
  );
  expect(p95).toBeLessThan(500);
  const [had, has] = await contentOfBoth(`${inject('postgresUrl')}/${template}`, url);
  expect(has).toEqual(had);
});
