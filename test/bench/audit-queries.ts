import { create, type MessageInitShape } from '@bufbuild/protobuf';
import pino from 'pino';
import { listEntries } from '../../shared/audit/list-entries.ts';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { responseOf, staffCall } from '../support/call-context.ts';
import { testSecret } from '../support/tokens.ts';
import { withClient } from './client.ts';
import { auditFilters, loadAuditData } from './data-audit.ts';
import { median } from './median.ts';
import { machine, onPostgres, positive, readOptions, tableHead, tableRow } from './program.ts';

// npm run bench:audit -- [--entries 10000000]: how long ListEntries takes with each filter, as the services run it, in a
// PostgreSQL of its own; and how much room the entries take.

const entries = positive(readOptions({ entries: '10000000' }).options, 'entries');
const { staff, subject, procedure, resourceId } = auditFilters;
const runs = 40;

type Filters = MessageInitShape<typeof AuditService.method.listEntries.input>;

const filters: [string, Filters][] = [
  ['none', {}],
  ['resource_type', { resourceType: 'slot' }],
  ['resource_id', { resourceType: 'slot', resourceId }],
  ['staff_id, of half of all', { staffId: staff.common }],
  ['staff_id, of 0.05 %', { staffId: staff.rare }],
  ['subject, of half of all', { subject: subject.common }],
  ['subject, of 0.05 %', { subject: subject.rare }],
  ['subject, of none', { subject: 'nobody' }],
  ['procedure, of a quarter', { procedure: procedure.slot }],
  ['procedure, of 0.01 %', { procedure: procedure.rare }],
  ['since', { since: '2025-06-01' }],
  ['until', { until: '2024-01-01' }],
  ['since and until, a day', { since: '2024-06-01', until: '2024-06-02' }],
  ['staff_id and procedure', { staffId: staff.rare, procedure: procedure.slot }],
  ['resource_id and subject', { resourceId, subject: subject.common }],
];
const couponFilters: [string, Filters][] = [
  ['coupon-service: none', {}],
  ['coupon-service: resource_type coupon', { resourceType: 'coupon' }],
  ['coupon-service: resource_type user', { resourceType: 'user' }],
  ['coupon-service: staff_id and resource_type', { staffId: staff.rare, resourceType: 'user' }],
];

await onPostgres(async (postgres) => {
  const url = await postgres.createDatabase('audit');
  await migrate(url);
  await loadAuditData(url, entries);
  const sizes = `select pg_table_size('audit_entries') as table, pg_indexes_size('audit_entries') as indexes`;
  const [size] = await withClient(
    url,
    async (client) => (await client.query<{ table: string; indexes: string }>(sizes)).rows,
  );
  const perEntry = (bytes: string | undefined) => Math.round(Number(bytes) / entries);
  console.log(`${machine}. ${entries} entries:`);
  console.log(`${perEntry(size?.table)} bytes each in the table, ${perEntry(size?.indexes)} in the indexes.\n`);
  console.log(tableHead(['filter', 'entries on the page', `median of ${runs}, ms`]));
  const config = readConfig('slot', { DATABASE_URL: url, AUTH_JWT_SECRET: testSecret }).database;
  for (const [service, all] of [
    ['slot', filters],
    ['coupon', couponFilters],
  ] as const) {
    const database = new Database(config, pino({ level: 'silent' }));
    const handler = listEntries(database, service);
    for (const [name, filter] of all) {
      const { listEntries: method } = AuditService.method;
      const run = async () => responseOf(method, await handler(create(method.input, filter), staffCall(method)));
      const took: number[] = [];
      let found = 0;
      for (let n = 0; n < runs + 10; n += 1) {
        const begin = performance.now();
        found = (await run()).entries.length;
        if (n >= 10) took.push(performance.now() - begin);
      }
      console.log(tableRow([name, found, median(took).toFixed(2)]));
    }
    await database.close();
  }
});
process.exit(0);
