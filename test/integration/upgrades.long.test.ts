import { expect, inject, it } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { contentOfBoth, createDatabaseFrom, createOldStates, migrations } from '../support/old-database.ts';
import { underStatements } from '../support/old-load.ts';
import { readReleaseBefore } from '../support/release-before.ts';

const size = 100_000;

it('The schema of the release before, with 100,000 rows in every table, migrates to the newest one under reads and writes', {
  timeout: 1_800_000,
}, async () => {
  const { migrations: released } = await readReleaseBefore();
  const before = migrations.filter((name) => `${name}.sql` in released);
  const template = (await createOldStates(size, before)).get(before.at(-1) ?? '');
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
