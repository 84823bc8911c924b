import { mkdir, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isAlive, run } from '../support/processes.ts';
import { makePlace, type Place, removePlace, SharedStart, StartProcess } from './start-process.ts';

/** Whether something accepts connections there. */
function connects(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

describe('npm start', () => {
  let place: Place;
  let shared: SharedStart;
  beforeAll(async () => {
    place = await makePlace();
    shared = new SharedStart(place);
  });
  afterAll(async () => {
    await shared.end();
    await removePlace(place);
  });

  async function call(procedure: string, body: object, output: string): Promise<unknown> {
    const authorization = /authorization: (Bearer [^']+)'/.exec(output)?.[1] ?? '';
    const response = await fetch(`http://127.0.0.1:${place.COUPON_WEB_PORT}/coupon.v1.CouponService/${procedure}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify(body),
    });
    return response.json();
  }

  const staff = (...args: string[]) =>
    run('npm', ['run', '--silent', 'staff', '--', ...args], { ...place, DATABASE_URL: '' });

  it('npm run staff names the cure while npm start does not run', async () => {
    expect((await staff('list')).stderr).toContain('set DATABASE_URL, or keep npm start running');
  });

  it('npm start prints commands that work over HTTP and gRPC', async () => {
    const { output } = await shared.ready();
    const printed = (command: string) => output.split('\n').find((line) => line.startsWith(`${command} `)) ?? '';
    for (const command of ['curl', 'npx']) {
      const { stdout } = await run('sh', ['-c', printed(command)]);
      expect(JSON.parse(stdout)).toHaveProperty('slots.0.deliveryTime');
    }
    expect(printed('grpcurl')).toContain(`localhost:${place.SLOT_GRPC_PORT} slot.v1.SlotService/GetSlots`);
  });

  it('npm start tells each step as it begins, and that PostgreSQL is ready', async () => {
    const { output } = await shared.ready();
    const steps = [
      ...['Starting PostgreSQL, which makes its files at the first start...', 'PostgreSQL is ready.'],
      ...['Migrating the database...', 'Adding the demo, unless the database has data...'],
      'Starting the services, and waiting until each is ready...',
    ];
    expect(output.split('\n').filter((line) => steps.includes(line))).toEqual(steps);
  });

  it('npm start prints a link first that opens the staff console, signed in', async () => {
    const { output } = await shared.ready();
    const link = /^Staff console +(\S+)$/m.exec(output)?.[1] ?? '';
    expect(output.indexOf(link)).toBeLessThan(output.indexOf('slot-service    gRPC'));
    const { origin, hash } = new URL(link);
    expect(origin).toBe(`http://localhost:${place.CONSOLE_PORT}`);
    expect(output).toContain(`Bearer ${hash.slice('#token='.length)}'`);
    const page = await (await fetch(link)).text();
    expect(page).toContain(`http://localhost:${place.SLOT_WEB_PORT}`);
    expect(page).toContain(`http://localhost:${place.COUPON_WEB_PORT}`);
  });

  it('npm run staff manages the staff users of the database of npm start', async () => {
    await shared.ready();
    expect((await staff('list')).stdout).toMatch(/^1\tactive\t/);
    expect((await staff('add', 'Asha Menon')).stdout).toMatch(/^\d+\tactive\tAsha Menon\n$/);
  });

  it('npm start listens on the loopback address alone, with all of its ports', async () => {
    await shared.ready();
    const { DATA_DIR: _folder, ...ports } = place;
    expect(Object.keys(ports)).toHaveLength(5);
    for (const [variable, port] of Object.entries(ports)) {
      // Linux takes all of 127.0.0.0/8 for this machine, so a port of every address answers there, too.
      const accepts = (address: string) => connects(address, Number(port));
      expect([variable, await accepts('127.0.0.1'), await accepts('127.0.0.2')]).toEqual([variable, true, false]);
    }
  });

  it('npm start allows the origins of localhost on any port, and no others', async () => {
    await shared.ready();
    const allowed = async (origin: string) => {
      const headers = { origin, 'access-control-request-method': 'POST' };
      const url = `http://127.0.0.1:${place.SLOT_WEB_PORT}/slot.v1.SlotService/GetSlots`;
      return (await fetch(url, { method: 'OPTIONS', headers })).headers.get('access-control-allow-origin') === origin;
    };
    const local = ['http://localhost:4321', 'http://localhost', 'https://127.0.0.1:9', 'http://[::1]:3000'];
    const foreign = ['http://localhost.example', 'http://localhost:1.example', 'http://example:3000', 'null'];
    expect(await Promise.all([...local, ...foreign].map(allowed))).toEqual([
      ...local.map(() => true),
      ...foreign.map(() => false),
    ]);
  });

  it('npm start refuses a data folder that another run uses', async () => {
    await shared.ready();
    const other = await makePlace();
    onTestFinished(() => removePlace(other));
    const end = await new StartProcess({ ...other, DATA_DIR: place.DATA_DIR ?? '' }).ended;
    expect(end).toMatchObject({ code: 1, stderr: `DATA_DIR ${place.DATA_DIR} is in use by another npm start\n` });
  });

  it('Ctrl-C stops every process of npm start, and the next start has the data', async () => {
    const search = { search: '9812398123' };
    const first = await shared.ready();
    await call('CreateCoupon', { mobile: search.search }, first.output);
    const pids = await shared.findAll();
    expect(pids).toHaveLength(4);
    first.started.signalGroup('SIGINT');
    expect(await shared.ended(first.started)).toMatchObject({ code: 0, stderr: '' });
    expect(pids.filter(isAlive)).toEqual([]);

    const kept = await call('GetUsersMiniInfo', search, (await shared.ready()).output);
    expect(kept).toMatchObject({ users: [{ mobile: search.search }] });
  });
});

describe('npm start with wrong settings', () => {
  let place: Place;
  beforeAll(async () => {
    place = await makePlace();
  });
  afterAll(() => removePlace(place));

  const refused = (variables: Place) => new StartProcess({ ...place, ...variables }).ended;

  it('npm start refuses a port that is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(Number(place.SLOT_WEB_PORT), '0.0.0.0', resolve));
    const end = await refused({});
    server.close();
    const line = `port ${place.SLOT_WEB_PORT} is in use by another process: free it, or set SLOT_WEB_PORT\n`;
    expect(end).toMatchObject({ code: 1, stderr: line });
  });

  it('npm start refuses an address that this machine has not', async () => {
    const line = 'BIND_ADDRESS 192.0.2.1 is no address of this machine\n';
    expect(await refused({ BIND_ADDRESS: '192.0.2.1' })).toMatchObject({ code: 1, stderr: line });
  });

  it('npm start refuses wrong variables, with a line for each', async () => {
    const end = await refused({ SLOT_WEB_PORT: '0', COUPON_CODE_PREFIX: 'dc' });
    expect(end.code).toBe(1);
    expect(end.stderr.trimEnd().split('\n')).toEqual([
      'SLOT_WEB_PORT is 0: npm start needs a port to print',
      'COUPON_CODE_PREFIX must be exactly two upper-case letters, such as DC',
    ]);
  });

  it('npm start refuses a data folder that is a file', async () => {
    const file = `${place.DATA_DIR}-file`;
    await writeFile(file, '');
    const end = await refused({ DATA_DIR: file });
    expect(end).toMatchObject({ code: 1, stderr: `DATA_DIR ${file} is a file, or inside of one: give a folder\n` });
  });

  it('npm start refuses the data of another version of PostgreSQL', async () => {
    const dataDir = `${place.DATA_DIR}-old`;
    await mkdir(path.join(dataDir, 'postgres'), { recursive: true });
    await writeFile(path.join(dataDir, 'postgres', 'PG_VERSION'), '13\n');
    const end = await refused({ DATA_DIR: dataDir });
    expect(end.code).toBe(1);
    expect(end.stderr).toMatch(/was made by PostgreSQL 13, this is \d+: remove it, or give another DATA_DIR\n$/);
  });
});
