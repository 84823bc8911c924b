import { it, onTestFinished } from 'vitest';
import { startCrashingPostgres } from '../support/crashing-postgres.ts';
import { ChaosStage } from './chaos-stage.ts';

it('Forty kills of replicas and five crashes of PostgreSQL lose no acknowledged mutation and double none', {
  timeout: 900_000,
}, async () => {
  const server = await startCrashingPostgres();
  const stage = await ChaosStage.start(server.url, server.sql);
  onTestFinished(() => stage.stop());
  await stage.survive(server);
  await stage.expectAllWrittenOnce();
});
