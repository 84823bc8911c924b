import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

// `npx vitest run test/unit/sql.test.ts -u` writes the files anew.

it('The statements of the services are those of test/sql, as they run', async () => {
  const printing = promisify(execFile)('node', ['--import', 'tsx', 'test/support/print-statements.ts'], {
    maxBuffer: 16 * 1024 * 1024,
  });
  const statements: Record<string, string> = JSON.parse((await printing).stdout);
  for (const [file, sql] of Object.entries(statements)) await expect(sql).toMatchFileSnapshot(`../sql/${file}`);
  const files = readdirSync('test/sql', { recursive: true }).map(String);
  expect(files.filter((file) => file.endsWith('.sql')).sort()).toEqual(Object.keys(statements).sort());
});
