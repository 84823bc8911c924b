import diagnosticsChannel from 'node:diagnostics_channel';

// Prints the statements of the services by service and name, as JSON, in the form of test/sql. Run by a test, in a
// process of its own, because statements are declared while their modules are loaded.

/** Indents the lines of a statement by the parentheses that are open, because fragments bring indents of their own. */
function indented(sql: string): string {
  let depth = 0;
  const lines = sql.split('\n').flatMap((line) => line.trim() || []);
  return lines.reduce((text, line) => {
    const parentheses = line.replace(/'[^']*'|--.*/g, '').replace(/[^()]/g, '');
    const closed = /^\)*/.exec(line)?.[0].length ?? 0;
    const indent = '  '.repeat(depth - closed);
    for (const each of parentheses) depth += each === '(' ? 1 : -1;
    return `${text}${indent}${line}\n`;
  }, '');
}

const statements: Record<string, string> = {};
let service = 'shared';
diagnosticsChannel.subscribe('statement-declared', (declared) => {
  if (typeof declared !== 'object' || declared === null || !('name' in declared && 'sql' in declared)) return;
  const name = String(declared.name);
  if (name !== '') statements[`${service}/${name}.sql`] = indented(String(declared.sql));
});

for (const shared of [
  'audit/list-entries',
  'audit/retention',
  'db/database',
  'rpc/idempotency/idempotency',
  'runtime/start-service',
]) {
  await import(`../../shared/${shared}.ts`);
}
service = 'slot-service';
await import('../../services/slot-service/service.ts');
service = 'coupon-service';
await import('../../services/coupon-service/service.ts');
process.stdout.write(JSON.stringify(statements));
