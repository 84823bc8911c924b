import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { runProgram } from '../support/processes.ts';

describe('The staff command', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.close());

  const staff = (...args: string[]) => runProgram('shared/auth/staff-main.ts', args, { DATABASE_URL: database.url });

  it('The staff command adds the first staff user, lists all, disables and enables them', async () => {
    expect(await staff('list')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await staff('add', 'Asha Menon')).stdout).toBe('1\tactive\tAsha Menon\n');
    expect((await staff('add', 'Ravi', 'Iyer')).stdout).toBe('2\tactive\tRavi Iyer\n');
    expect((await staff('disable', '1')).stdout).toBe('1\tdisabled\tAsha Menon\n');
    expect((await staff('list')).stdout).toBe('1\tdisabled\tAsha Menon\n2\tactive\tRavi Iyer\n');
    expect((await staff('enable', '1')).stdout).toBe('1\tactive\tAsha Menon\n');
  });

  it('A staff user who is disabled twice keeps the time of the first', async () => {
    await database.sql(`insert into staff_users (id, name, disabled_at) values (70, 'Gone', '2020-01-01')`);
    await staff('disable', '70');
    const [row] = await database.sql(
      'select extract(year from disabled_at)::integer as year from staff_users where id = 70',
    );
    expect(row).toEqual({ year: 2020 });
  });

  it.each([
    [['disable', '4711'], 'there is no staff user 4711'],
    [['disable', 'Asha'], 'an ID is a number that list shows, which "Asha" is not'],
    [['enable', '1', '2'], 'which "1 2" is not'],
    [['add'], 'usage: staff add NAME'],
    [['add', ' '], 'usage: staff add NAME'],
    [['add', 'x'.repeat(201)], 'a name has at most 200 characters'],
    [['remove', '1'], 'usage: staff add NAME'],
    [[], 'usage: staff add NAME'],
    [['list', '--all'], "Unknown option '--all'"],
  ])('The staff command refuses %j with a line that says why', async (args, reason) => {
    const { code, stdout, stderr } = await staff(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`staff: `);
    expect(stderr).toContain(reason);
  });

  it('The staff command names DATABASE_URL when it is not set, and shows no password when the database does not answer', async () => {
    const listIn = (databaseUrl: string) =>
      runProgram('shared/auth/staff-main.ts', ['list'], { DATABASE_URL: databaseUrl });
    expect((await listIn('')).stderr).toContain('DATABASE_URL is not set');
    const away = await listIn('postgres://admin:hunter2@127.0.0.1:1/x');
    expect(away.stderr).toContain('the database could not be asked: connect ECONNREFUSED');
    expect(away.stderr).not.toContain('hunter2');
  });
});
