import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { programArguments, run, runProgram } from '../support/processes.ts';

const program = 'services/slot-service/import-command/import-main.ts';

describe('The import command', () => {
  let database: TestDatabase;
  let folder: string;
  beforeAll(async () => {
    database = await createDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'import-test-'));
  });
  beforeEach(() =>
    database.sql('delete from orders; delete from users; delete from products; delete from staff_users'),
  );
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await database.close();
  });

  const env = () => ({ DATABASE_URL: database.url, BUSINESS_CALLING_CODE: '91' });
  const rejectedOf = (name: string) => readFile(path.join(folder, `${name}.rejected`), 'utf8');
  /** Imports a file with this content. */
  async function importFile(kind: string, content: string | Buffer, name = 'rows') {
    const file = path.join(folder, name);
    await writeFile(file, content);
    const { code, stdout, stderr } = await runProgram(program, [kind, file], env());
    return { code, stdout: stdout.replaceAll(folder, ''), stderr };
  }
  const users = () => database.sql('select external_id, name, email, mobile from users order by external_id');
  const asha = { external_id: 'u-1', name: 'Asha, "A"', email: 'a@example.com', mobile: '9876543210' };

  it.each([
    ['a CSV', 'external_id,name,email,mobile\nu-1,"Asha, ""A""",a@example.com,+91 98765 43210\n'],
    [
      'columns in another order, with JSON names',
      'mobile,externalId,email,name\n09876543210,u-1,a@example.com,"Asha, ""A"""',
    ],
    [
      'semicolons, a byte order mark and Windows line ends',
      '\ufeffexternal_id;name;email;mobile\r\nu-1;"Asha, ""A""";a@example.com;9876543210\r\n\r\n',
    ],
    ['tabs', 'external_id\tname\temail\tmobile\nu-1\t"Asha, ""A"""\ta@example.com\t9876543210\n'],
    [
      'headings with capitals and blanks, empty rows and columns',
      ' External_ID ,NAME,Email,Mobile,,\n,,,,,\nu-1,"Asha, ""A""",a@example.com,9876543210,,\n , ,,,,\n',
    ],
    [
      'a first line that tells the separator',
      'sep=|\r\nexternal_id|name|email|mobile\r\nu-1|"Asha, ""A"""|a@example.com|9876543210',
    ],
    [
      'lines that end in CR, of which the first tells the separator',
      'sep=|\rexternal_id|name|email|mobile\ru-1|"Asha, ""A"""|a@example.com|9876543210\r',
    ],
    [
      'lines of which the first is blank',
      '\nexternal_id;name;email;mobile\nu-1;"Asha, ""A""";a@example.com;9876543210\n',
    ],
    ['blanks around values', 'external_id,name,email,mobile\n u-1 ,"Asha, ""A"""," a@example.com ",\t9876543210\n'],
    [
      'UTF-16, as “Unicode text” of a spreadsheet',
      Buffer.from(
        '\ufeffexternal_id\tname\temail\tmobile\r\nu-1\t"Asha, ""A"""\ta@example.com\t9876543210\r\n',
        'utf16le',
      ),
    ],
    [
      'UTF-16 with the other order of bytes',
      Buffer.from(
        '\ufeff{"external_id":"u-1","name":"Asha, \\"A\\"","email":"a@example.com","mobile":9876543210}',
        'utf16le',
      ).swap16(),
    ],
    ['JSON lines', '{"external_id":"u-1","name":"Asha, \\"A\\"","email":"a@example.com","mobile":9876543210}\n\n'],
    [
      'JSON lines with JSON names',
      '{"mobile":"+91-98765-43210","name":"Asha, \\"A\\"","externalId":"u-1","email":"a@example.com"}',
    ],
  ])('Users are imported from %s', async (_what, content) => {
    expect(await importFile('users', content)).toEqual({
      ...{ code: 0, stdout: 'users: 1 created, 0 changed, 0 unchanged, 0 refused\n', stderr: '' },
    });
    expect(await users()).toEqual([asha]);
  });

  it('A repeated import writes nothing, and entries are those of the operator', async () => {
    const content = 'external_id,name\nu-1,Asha\nu-2,Ravi\n';
    await importFile('users', content);
    const before = await database.sql('select xmin::text from users');
    expect((await importFile('users', content)).stdout).toBe('users: 0 created, 0 changed, 2 unchanged, 0 refused\n');
    expect(await database.sql('select xmin::text from users')).toEqual(before);
    const entries = await database.sql(
      `select distinct procedure, subject from audit_entries where resource_type = 'user'`,
    );
    expect(entries).toEqual([{ procedure: 'catalog.v1.ImportService/ImportUsers', subject: 'operator' }]);
  });

  it('Rows that can’t be taken go to a file with their reason, which is imported once it is mended', async () => {
    const { code, stdout } = await importFile(
      'users',
      'external_id;mobile;name\nu-1;1;Asha\nu 2;2;"a; ""b"""\nu-3;1;Ravi\nu-1;3;Again\nu-4;9.19877E+11;\nu-5;5\nu-6;6;x;y\nu-7;7;Meena\n',
    );
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: 'users: 2 created, 0 changed, 0 unchanged, 6 refused, see /rows.rejected\n',
    });
    const rejected = await rejectedOf('rows');
    expect((await stat(path.join(folder, 'rows.rejected'))).mode & 0o777).toBe(0o600);
    expect(rejected).toBe(
      [
        'external_id;mobile;name;reason',
        'u 2;2;"a; ""b""";external_id: has white space',
        'u-3;1;Ravi;Mobile number belongs to another user',
        'u-1;3;Again;external_id: an earlier row of the file has it',
        'u-4;9.19877E+11;;mobile: a spreadsheet has shortened the number: give the column the format of a text',
        'u-5;5;has 2 cells, and not 3 as the heading',
        'u-6;6;x;y;has 4 cells, and not 3 as the heading',
        '',
      ].join('\n'),
    );
    const mended = rejected.replace('u 2', 'u-2').split('\n').slice(0, 2).join('\n');
    expect((await importFile('users', mended, 'mended')).stdout).toBe(
      'users: 1 created, 0 changed, 0 unchanged, 0 refused\n',
    );
    expect(existsSync(path.join(folder, 'mended.rejected'))).toBe(false);
    expect((await users()).map((user) => user.name)).toEqual(['Asha', 'a; "b"', 'Meena']);
  });

  it.each([
    ['external_id,mobile\nu-1,9.19877E+11\nu-1,1\nu-2,2\n', 'u-1,1,external_id: an earlier row of the file has it'],
    [
      '{"external_id":1,"mobile":"9.19877E+11"}\n{"external_id":1,"mobile":"1"}\n{"external_id":2,"mobile":"2"}\n',
      '{"external_id":1,"mobile":"1","reason":"external_id: an earlier row of the file has it"}',
    ],
  ])('A row repeats an earlier one of the file whose other values can’t be taken: %j', async (rows, refused) => {
    const { stdout } = await importFile('users', rows);
    expect(stdout).toBe('users: 1 created, 0 changed, 0 unchanged, 2 refused, see /rows.rejected\n');
    expect(await rejectedOf('rows')).toContain(refused);
  });

  it('An external id may be a number in JSON lines', async () => {
    const { stdout } = await importFile('users', '{"external_id":17}\n{"external_id":18}\n{"external_id":"17"}\n');
    expect(stdout).toBe('users: 2 created, 0 changed, 0 unchanged, 1 refused, see /rows.rejected\n');
  });

  it('Refused JSON lines have their reason under a further key', async () => {
    await importFile(
      'orders',
      '{"external_id":"o-1","user_external_id":"none","total_amount":12.5}\n{"external_id":"o-2","total_amount":1e300}\n',
    );
    expect(await rejectedOf('rows')).toBe(
      '{"external_id":"o-1","user_external_id":"none","total_amount":12.5,"reason":"user_external_id: there is no such user"}\n' +
        '{"external_id":"o-2","total_amount":1e300,"reason":"total_amount: must be a text, in quotes"}\n',
    );
  });

  it('Refused rows that are imported again without being mended are refused again, and stay as they were', async () => {
    await importFile('users', 'external_id,name,email\nu-1,Ann\nu-2,Ann,a@b,more,still\nu 3,"a\nb",\n');
    const first = await rejectedOf('rows');
    const again = await importFile('users', first, 'again');
    expect(again.stdout).toContain('0 created, 0 changed, 0 unchanged, 3 refused');
    expect(await rejectedOf('again')).toBe(first);
    await importFile('orders', '{"external_id":"o 1","total_amount":12345678901234567891}\n', 'json');
    const json = await rejectedOf('json');
    expect(json).toContain('12345678901234567891');
    await importFile('orders', json, 'json-again');
    expect(await rejectedOf('json-again')).toBe(json);
    expect(await users()).toEqual([]);
  });

  it.each([
    ['"total_amount":1234567890123.456789', 'total_amount: must be a text, in quotes'],
    ['"total_amount":"1","user_external_id":12345678901234567891', 'user_external_id: must be a text, in quotes'],
    ['"total_amount":"1\\ud800"', 'total_amount'],
    ['"total_amount":{"a":1}', 'total_amount: must be a text, in quotes'],
  ])('A JSON value that has lost digits or is no text is refused with its row: %s', async (field, reason) => {
    const rows = `{"external_id":"o-1",${field}}\n{"external_id":"o-2","total_amount":12.25}\n`;
    const { stdout } = await importFile('orders', rows);
    expect(stdout).toContain('1 created, 0 changed, 0 unchanged, 1 refused');
    expect(await rejectedOf('rows')).toContain(reason);
    expect(await database.sql('select total_amount from orders')).toEqual([{ total_amount: '12.25' }]);
  });

  it('Lines may end in different ways', async () => {
    await importFile('users', 'external_id,name\nu-1,Ann\r\nu-2,Ben\ru-3,Cid\n');
    expect((await users()).map(({ name }) => name)).toEqual(['Ann', 'Ben', 'Cid']);
  });

  it('A right row is taken beside a wrong one with its mobile number', async () => {
    await importFile('users', 'external_id,mobile\nu-1,1\n');
    const { stdout } = await importFile('users', 'external_id,mobile,name\nx,1,wrong\nu-1,1,right\n');
    expect(stdout).toContain('0 created, 1 changed, 0 unchanged, 1 refused');
    expect(await users()).toMatchObject([{ external_id: 'u-1', name: 'right' }]);
  });

  it('An external id that stands twice is refused wherever it stands', async () => {
    const rows = Array.from({ length: 2_500 }, (_none, n) => `p-${n},Product ${n}`);
    const { stdout } = await importFile('products', ['external_id,name', ...rows, 'p-3,Again'].join('\n'));
    expect(stdout).toContain('2500 created, 0 changed, 0 unchanged, 1 refused');
    expect(await database.sql(`select name from products where external_id = 'p-3'`)).toEqual([{ name: 'Product 3' }]);
  });

  it('Products, groups, orders and staff are imported, too', async () => {
    await importFile(
      'products',
      'external_id,name,images,is_retired\np-1,Milk,https://i/1 https://i/2,TRUE\np-2,Oat,,\n',
    );
    expect(await database.sql('select name, images, is_retired from products order by 1')).toEqual([
      { name: 'Milk', images: ['https://i/1', 'https://i/2'], is_retired: true },
      { name: 'Oat', images: [], is_retired: false },
    ]);
    await importFile('groups', 'external_id,name\ng-1,Dairy\n');
    await importFile('users', 'external_id\nu-1\n');
    await importFile('orders', 'external_id,user_external_id,total_amount\no-1,u-1,99.50\n');
    expect(
      await database.sql(`select total_amount, users.external_id from orders join users on users.id = user_id`),
    ).toEqual([{ total_amount: '99.50', external_id: 'u-1' }]);
    await importFile('staff', 'external_id,name,is_disabled\nasha@example.com,Asha,false\nravi@example.com,Ravi,1\n');
    const staff = () => database.sql('select external_id, name, disabled_at from staff_users order by 1');
    const before = await staff();
    expect(before).toMatchObject([{ name: 'Asha', disabled_at: null }, { name: 'Ravi' }]);
    expect(before[1]?.disabled_at).toBeInstanceOf(Date);
    const withoutColumn = 'external_id,name\nasha@example.com,Asha\nravi@example.com,Ravi\n';
    expect((await importFile('staff', withoutColumn)).stdout).toContain('2 unchanged');
    expect(await staff()).toEqual(before);
    expect((await importFile('staff', 'external_id,name,is_disabled\nx,,\ny,Y,maybe\n')).code).toBe(1);
  });

  it.each([
    ['users', 'external_id,nickname\nu-1,A\n', 'the column "nickname" is not known'],
    ['users', '{"external_id":"u-1"}\n{"external_id":"u-2","nickname":1}\n', 'the column "nickname" is not known'],
    ['users', '{"external_id":"u-1"}\n[]\n', 'line 2 is no JSON object'],
    ['users', 'external_id,name,externalId\nu-1,A,u-2\n', 'the column "external_id" stands twice'],
    ['users', '{"external_id":"u-1","externalId":"u-2"}\n', 'the column "external_id" stands twice'],
    [
      'users',
      Buffer.from('external_id,name\nu-1,A\nu-2,\xe9\n', 'latin1'),
      'the file is not UTF-8: save it as "CSV UTF-8", or convert it',
    ],
    ['users', 'external_id,,name\nu-1,A,B\n', 'column 2 has values, and no name'],
    ['users', '{"external_id":"u-1","":"A"}\n', 'the column "" is not known'],
    ['users', '', 'the file is empty'],
    ['users', 'external_id,name\nu-1,"A\n', 'Quote Not Closed'],
  ])('A file that can’t be taken as a whole is refused, and nothing is written: %#', async (kind, content, reason) => {
    const { code, stdout, stderr } = await importFile(kind, content);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`import: `);
    expect(stderr).toContain(reason);
    expect(await users()).toEqual([]);
  });

  it.each([
    ['gone.csv', 'there is no such file'],
    ['', 'is a folder'],
  ])('A wrong path is told in words: %j', async (name, reason) => {
    const file = path.join(folder, name);
    const { code, stderr } = await runProgram(program, ['users', file], env());
    expect({ code, stderr }).toEqual({ code: 1, stderr: `import: ${file}: ${reason}\n` });
  });

  it('Refused rows of a file with another separator, or in UTF-16, can be imported once they are mended', async () => {
    for (const [content, heading] of [
      ['sep=|\nexternal_id|name\nu 1|é\n', 'sep=|\nexternal_id|name|reason\n'],
      ['sep=|\rexternal_id|name\ru 1|é\r', 'sep=|\nexternal_id|name|reason\n'],
      [Buffer.from('\ufeffexternal_id\tname\r\nu 1\té\r\n', 'utf16le'), 'external_id\tname\treason\n'],
    ] as const) {
      await importFile('users', content);
      const rejected = await rejectedOf('rows');
      expect(rejected.startsWith(heading)).toBe(true);
      await importFile('users', rejected.replace('u 1', 'u-1'), 'mended');
      expect(await users()).toMatchObject([{ external_id: 'u-1', name: 'é' }]);
      await database.sql('delete from users');
    }
  });

  it.each([
    ['orders', 'external_id,total_amount\no-1,"1250,50"\n', 'total_amount: must be an amount such as 1250.50'],
    ['orders', '{"external_id":"o-1"}\n', 'total_amount: must be an amount such as 1250.50'],
    ['products', 'external_id,is_retired\np-1,WAHR\n', 'is_retired: must be true or false'],
    ['products', 'external_id,images\np-1,"{a,b}"\n', 'images[0]: must not begin with {'],
    ['products', '{"external_id":"p-1","images":["x","{a"]}\n', 'images[1]: must not begin with {'],
    ['groups', 'external_id,name\n"4,00001E+11",A\n', 'external_id: a spreadsheet has shortened the number'],
    ['staff', 'external_id,name\n4E+09,A\n', 'external_id: a spreadsheet has shortened the number'],
  ])('A refused row says in words what to write: %s %j', async (kind, content, reason) => {
    expect((await importFile(kind, content)).stdout).toContain('0 created, 0 changed, 0 unchanged, 1 refused');
    expect(await rejectedOf('rows')).toContain(reason);
  });

  it('An external id that has an E without a sign was not shortened', async () => {
    const { stdout } = await importFile('products', 'external_id,name\n12E4,Milk\n7e1,Oat\n');
    expect(stdout).toBe('products: 2 created, 0 changed, 0 unchanged, 0 refused\n');
  });

  it('A row that is refused for its external id leaves its number to another', async () => {
    const { stdout } = await importFile('users', 'external_id,mobile\n4E+09,9876543210\nu-1,9876543210\n');
    expect(stdout).toContain('1 created, 0 changed, 0 unchanged, 1 refused');
    expect(await users()).toMatchObject([{ external_id: 'u-1', mobile: '9876543210' }]);
  });

  it.each([
    ['are swapped', 'u-0', 'u-2400', ['+2400', '+0']],
    ['are passed on before they are given up', 'u-0', 'u-2400', ['+2400', '']],
    ['are given up before they are passed on', 'u-2400', 'u-0', ['+0', '']],
  ] as const)('Numbers that %s by rows far apart in a file change hands', async (_how, taker, giver, numbers) => {
    const all = Array.from({ length: 2_500 }, (_none, n) => ({ id: `u-${n}`, mobile: `+${n}` }));
    const fileOf = (rows: typeof all) =>
      ['external_id,mobile', ...rows.map(({ id, mobile }) => `${id},${mobile}`)].join('\n');
    await importFile('users', fileOf(all));
    const changed = all.map((user) => ({
      ...user,
      mobile: user.id === taker ? numbers[0] : user.id === giver ? numbers[1] : user.mobile,
    }));
    expect((await importFile('users', fileOf(changed))).stdout).toContain(
      '0 created, 2 changed, 2498 unchanged, 0 refused',
    );
    const after = await database.sql(
      `select external_id, mobile from users where external_id in ('u-0', 'u-2400') order by 1`,
    );
    expect(after).toEqual(
      changed
        .filter(({ id }) => [taker, giver].some((each) => each === id))
        .map(({ id, mobile }) => ({ external_id: id, mobile: mobile || null })),
    );
  });

  it('Numbers that all rows of a file pass on change hands, or none does where the last one is taken', async () => {
    const fileOf = (shift: number, last = '') =>
      [
        'external_id,mobile',
        ...Array.from({ length: 2_500 }, (_none, n) => `u-${n},${n + shift < 2_500 ? `+${n + shift}` : last}`),
      ].join('\n');
    await importFile('users', fileOf(0));
    expect((await importFile('users', fileOf(1, '+0'))).stdout).toContain(
      '0 created, 2500 changed, 0 unchanged, 0 refused',
    );
    await importFile('users', 'external_id,mobile\nother,+9999\n');
    const { stdout } = await importFile('users', fileOf(2, '+9999'));
    expect(stdout).toContain('0 created, 0 changed, 0 unchanged, 2500 refused');
  });

  it.each([[[]], [['users']], [['people', 'x.csv']], [['users', 'a', 'b']]])(
    'The command line %j prints the usage',
    async (args) => {
      const { code, stderr } = await runProgram(program, args, env());
      expect(code).toBe(1);
      expect(stderr).toContain('usage: import users|products|groups|orders|staff FILE');
    },
  );

  it('A pipe is imported as a file is', async () => {
    const command = `printf 'external_id\\nu-1\\n' | exec "$0" "$@" users /dev/stdin`;
    const { code, stdout } = await run('sh', ['-c', command, process.execPath, ...programArguments(program)], env());
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'users: 1 created, 0 changed, 0 unchanged, 0 refused\n' });
  });

  it('Standard input is imported, and its refused rows go to standard error', async () => {
    const child = spawn(process.execPath, [...programArguments(program), 'users', '-'], {
      env: { ...process.env, ...env() },
    });
    const [stdout, stderr]: string[][] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => stdout?.push(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => stderr?.push(chunk.toString()));
    child.stdin.end('external_id\nu-1\nu 2\n');
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, stdout: stdout?.join('') }).toEqual({
      code: 1,
      stdout: 'users: 1 created, 0 changed, 0 unchanged, 1 refused\n',
    });
    expect(stderr?.join('')).toContain('external_id,reason\nu 2,');
  });
});
