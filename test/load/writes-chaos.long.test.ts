import { it, onTestFinished } from 'vitest';
import { startCrashingPostgres } from '../support/crashing-postgres.ts';
import { ChaosStage } from './chaos-stage.ts';

const kills = 40;
/** PostgreSQL is stopped after each so many kills. */
const killsPerStop = 8;

it('Forty kills of replicas and five crashes of PostgreSQL lose no acknowledged mutation and double none', {
  timeout: 900_000,
}, async () => {
  const server = await startCrashingPostgres();
  const stage = await ChaosStage.start(server.url, server.sql);
  onTestFinished(() => stage.stop());
  stage.load();
  for (let kill = 1; kill <= kills; kill += 1) {
    await stage.untilProgress();
    await stage.killReplica(kill % stage.replicas.length, async () => {
      if (kill % killsPerStop === 0) await server.crash();
    });
  }
  await stage.endLoad();
  await stage.expectAllWrittenOnce();
});
