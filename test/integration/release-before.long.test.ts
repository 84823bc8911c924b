import { rm } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { ChaosStage } from '../load/chaos-stage.ts';
import { buildPrograms } from '../support/build-program.ts';
import { startCrashingPostgres } from '../support/crashing-postgres.ts';
import { run } from '../support/processes.ts';
import { checkOutRelease, linkPackagesOf, readReleases, upgradeSchemaOf } from '../support/release-before.ts';

const releases = await readReleases();

it.each(releases)(
  "The services of $version pass their contract tests on today's schema",
  { timeout: 3_600_000 },
  async ({ commit }) => {
    const folder = await checkOutRelease(commit);
    await linkPackagesOf(folder);
    await upgradeSchemaOf(folder);
    // What vitest has told this process is not for the other one.
    const env = Object.fromEntries(
      Object.keys(process.env)
        .filter((name) => /^VITEST|^NODE_ENV$/.test(name))
        .map((name) => [name, undefined]),
    );
    const args = ['vitest', 'run', '--project', 'suite', 'test/contract'];
    const { code, stdout } = await run('npx', args, env, folder);
    console.info(stdout.split('\n').slice(-8).join('\n'));
    expect(code, stdout).toBe(0);
  },
);

it.each(releases)(
  "A replica of $version and one of today's of each service, killed again and again, lose no acknowledged mutation and double none",
  {
    timeout: 1_800_000,
  },
  async ({ commit }) => {
    const folder = await checkOutRelease(commit);
    await linkPackagesOf(folder);
    const before = await buildPrograms(folder);
    onTestFinished(() => rm(before, { recursive: true, force: true }));
    const server = await startCrashingPostgres();
    // Slot-service and coupon-service of that release come first.
    const stage = await ChaosStage.start(server.url, server.sql, (index) =>
      index < 2 ? { programFolder: before } : {},
    );
    onTestFinished(() => stage.stop());
    await stage.survive(server);
    await stage.expectAllWrittenOnce();
  },
);
