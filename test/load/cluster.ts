import { onTestFinished } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { fixture } from '../support/service.ts';

/** A PostgreSQL with a synchronous standby and the fixture, until the test ends. */
export async function startCluster() {
  const cluster = await PostgresCluster.start();
  onTestFinished(() => cluster.stop());
  const sql: PostgresCluster['sql'] = (text, values) => cluster.sql(text, values);
  await migrate(cluster.url);
  await sql(fixture);
  await cluster.waitForStandby();
  return { cluster, sql };
}
