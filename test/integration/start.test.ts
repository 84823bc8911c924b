import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, run } from '../support/processes.ts';
import {
  findDatabase,
  findService,
  makePlace,
  type Place,
  removePlace,
  runPrinted,
  StartProcess,
} from './start-process.ts';

const startTimeoutMs = 120_000;
const services = ['slot-service', 'coupon-service'];
const running: StartProcess[] = [];
let place: Place;

function start(variables: Place = place): StartProcess {
  const process = new StartProcess(variables);
  running.push(process);
  return process;
}

async function stop(process: StartProcess): Promise<number | null> {
  process.signal('SIGTERM');
  return (await process.ended).code;
}

function printed(output: string, command: string): string {
  return output.split('\n').find((line) => line.startsWith(`${command} `)) ?? '';
}

async function findAll(): Promise<number[]> {
  const found = await Promise.all([findDatabase(place), ...services.map((name) => findService(name, place))]);
  return found.filter((pid) => pid !== undefined);
}

async function call(procedure: string, body: object, output: string): Promise<unknown> {
  const authorization = /authorization: (Bearer [^']+)'/.exec(output)?.[1] ?? '';
  const isSlot = procedure.startsWith('slot');
  const port = isSlot ? place.SLOT_WEB_PORT : place.COUPON_WEB_PORT;
  const response = await fetch(`http://127.0.0.1:${port}/${procedure}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify(body),
  });
  return response.json();
}

// Each test starts everything, or even twice.
describe('npm start', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    place = await makePlace();
  });
  afterEach(async () => {
    for (const process of running.splice(0)) await stop(process);
  });
  afterAll(() => removePlace(place));

  it('prints commands that work, over HTTP and gRPC', { timeout: startTimeoutMs }, async () => {
    const output = await start().ready();
    expect(JSON.parse(await runPrinted(printed(output, 'curl')))).toHaveProperty('slots.0.deliveryTime');
    expect(JSON.parse(await runPrinted(printed(output, 'npx')))).toHaveProperty('slots.0.deliveryTime');
    expect(printed(output, 'grpcurl')).toContain(`localhost:${place.SLOT_GRPC_PORT} slot.v1.SlotService/GetSlots`);
  });

  it('stops all of it at Ctrl-C and keeps the data for the next start', { timeout: startTimeoutMs }, async () => {
    const first = start();
    const search = { search: '9812398123' };
    const output = await first.ready();
    await call('coupon.v1.CouponService/CreateCoupon', { mobile: search.search }, output);
    const pids = await findAll();
    expect(pids).toHaveLength(3);
    first.signalGroup('SIGINT');
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' });
    expect(pids.filter(isAlive)).toEqual([]);

    const second = await start().ready();
    const kept = await call('coupon.v1.CouponService/GetUsersMiniInfo', search, second);
    expect(kept).toMatchObject({ users: [{ mobile: search.search }] });
  });

  it('ends with a line that names a service that died', { timeout: startTimeoutMs }, async () => {
    const started = start();
    await started.ready();
    const pids = await findAll();
    const coupon = await findService('coupon-service', place);
    if (coupon === undefined) throw new Error('coupon-service is not running');
    process.kill(coupon, 'SIGKILL');
    expect(await started.ended).toMatchObject({
      code: 1,
      stderr: 'coupon-service ended by itself (SIGKILL): stopping everything\n',
    });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('leaves no process behind when it is killed', { timeout: startTimeoutMs }, async () => {
    const killed = start();
    await killed.ready();
    const pids = await findAll();
    expect(pids).toHaveLength(3);
    killed.signal('SIGKILL');
    await expect.poll(() => pids.filter(isAlive), { timeout: 30_000 }).toEqual([]);
  });

  it('takes over from a run that was killed', { timeout: startTimeoutMs }, async () => {
    const killed = start();
    await killed.ready();
    const database = await findDatabase(place);
    killed.signal('SIGKILL');
    await start().ready();
    expect(await findDatabase(place)).not.toBe(database);
  });

  it('manages the staff users of its database', { timeout: startTimeoutMs }, async () => {
    const command = ['run', '--silent', 'staff', '--'];
    const env = { ...place, DATABASE_URL: '' };
    const before = await run('npm', [...command, 'list'], env);
    expect(before.stderr).toContain('set DATABASE_URL, or keep npm start running');
    await start().ready();
    expect((await run('npm', [...command, 'list'], env)).stdout).toMatch(/^1\tactive\t/);
    expect((await run('npm', [...command, 'add', 'Asha Menon'], env)).stdout).toMatch(/^\d+\tactive\tAsha Menon\n$/);
  });

  it('lets pages of localhost in from whatever port, and of no other origin', { timeout: startTimeoutMs }, async () => {
    await start().ready();
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

  it('refuses a data folder that another run uses', { timeout: startTimeoutMs }, async () => {
    await start().ready();
    const other = await makePlace();
    const end = await start({ ...other, DATA_DIR: place.DATA_DIR ?? '' }).ended;
    await removePlace(other);
    expect(end).toMatchObject({ code: 1, stderr: `DATA_DIR ${place.DATA_DIR} is in use by another npm start\n` });
  });

  it('refuses a port that is in use', { timeout: startTimeoutMs }, async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(Number(place.SLOT_WEB_PORT), '0.0.0.0', resolve));
    const end = await start().ended;
    server.close();
    const line = `port ${place.SLOT_WEB_PORT} is in use by another process: free it, or set SLOT_WEB_PORT\n`;
    expect(end).toMatchObject({ code: 1, stderr: line });
  });

  it('refuses variables that are wrong, a line each', async () => {
    const end = await start({ ...place, SLOT_WEB_PORT: '0', COUPON_CODE_PREFIX: 'dc' }).ended;
    expect(end.code).toBe(1);
    expect(end.stderr.trimEnd().split('\n')).toEqual([
      'SLOT_WEB_PORT is 0: npm start needs a port to print',
      'COUPON_CODE_PREFIX must be exactly two upper-case letters, such as DC',
    ]);
  });

  it('refuses a data folder that is a file', async () => {
    const file = `${place.DATA_DIR}-file`;
    await writeFile(file, '');
    const end = await start({ ...place, DATA_DIR: file }).ended;
    expect(end).toMatchObject({ code: 1, stderr: `DATA_DIR ${file} is a file, or inside of one: give a folder\n` });
  });

  it('refuses the data of another PostgreSQL', async () => {
    const dataDir = `${place.DATA_DIR}-old`;
    await mkdir(path.join(dataDir, 'postgres'), { recursive: true });
    await writeFile(path.join(dataDir, 'postgres', 'PG_VERSION'), '13\n');
    const end = await start({ ...place, DATA_DIR: dataDir }).ended;
    expect(end.code).toBe(1);
    expect(end.stderr).toMatch(/was made by PostgreSQL 13, this is \d+: remove it, or give another DATA_DIR\n$/);
  });
});
