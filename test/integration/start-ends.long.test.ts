import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from '../support/processes.ts';
import { findDatabase, findService, makePlace, type Place, removePlace, SharedStart } from './start-process.ts';

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

  it('npm start ends with a line that names a service that died', async () => {
    const { started } = await shared.ready();
    const pids = await shared.findAll();
    const coupon = await findService('coupon-service', place);
    if (coupon === undefined) throw new Error('coupon-service is not running');
    process.kill(coupon, 'SIGKILL');
    expect(await shared.ended(started)).toMatchObject({
      code: 1,
      stderr: 'coupon-service ended by itself (SIGKILL): stopping everything\n',
    });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('npm start takes over from a run that was killed', async () => {
    const { started } = await shared.ready();
    const database = await findDatabase(place);
    started.signal('SIGKILL');
    void shared.ended(started);
    await shared.ready();
    expect(await findDatabase(place)).not.toBe(database);
  });

  it('npm start leaves no process behind when it is killed', async () => {
    const { started } = await shared.ready();
    const pids = await shared.findAll();
    expect(pids).toHaveLength(4);
    started.signal('SIGKILL');
    await shared.ended(started);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });
});
