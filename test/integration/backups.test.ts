import { readdirSync } from 'node:fs';
import { mkdir, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { podOf } from '../support/manifests.ts';
import { programFolder } from '../support/postgres-server.ts';
import { type Outcome, run, succeed } from '../support/processes.ts';
import { Deployment, makeFolder } from './recovery-stage.ts';

const reason = programFolder === undefined ? ' (skipped: no PostgreSQL of Debian, of the package postgresql)' : '';

/** A deployment, and the commands of its CronJobs, with folders of the test's in the place of their volumes. */
class BackedUp {
  readonly deployment: Deployment;
  readonly #folder: string;

  private constructor(deployment: Deployment, folder: string) {
    this.deployment = deployment;
    this.#folder = folder;
  }

  static async create(schema?: string): Promise<BackedUp> {
    const folder = await makeFolder();
    const deployment = await Deployment.create(folder, 'a', schema);
    await migrate(deployment.urls.owner, deployment.schema);
    await deployment.sql('insert into slots (delivery_time, freeze_time) values (now(), now())');
    const { uid = process.getuid?.() } = deployment.server.account ?? {};
    for (const name of ['backups', 'drill']) {
      await mkdir(path.join(folder, name));
      await succeed('chown', [`${uid}`, path.join(folder, name)]);
    }
    return new BackedUp(deployment, folder);
  }

  /** Where a dump of the volume is. */
  pathOf(dump: string): string {
    return path.join(this.#folder, 'backups', dump);
  }

  /** The files of the volume, oldest first. */
  get dumps(): string[] {
    return readdirSync(this.pathOf('.')).toSorted();
  }

  async run(name: 'backup' | 'restore-drill'): Promise<Outcome> {
    const { command = [], env = [] } = podOf(`delivery-admin-${name}`).container;
    const { account } = this.deployment.server;
    const as = account === undefined ? [] : [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
    const [shell = '', option = '', script = ''] = command;
    const adapted = ['backups', 'drill'].reduce(
      (text, volume) => text.replaceAll(`/${volume}`, path.join(this.#folder, volume)),
      script,
    );
    const variables = {
      ...Object.fromEntries(env.map((variable) => [variable.name, variable.value])),
      ...{ OWNER: this.deployment.urls.owner, PATH: `${programFolder}:${process.env.PATH}` },
      SCHEMA: this.deployment.schema === 'public' ? '' : this.deployment.schema,
    };
    const inPod = (script: string) => run('setpriv', [...as, shell, option, script], variables, '/');
    const outcome = await inPod(adapted);
    // The server of the drill, and its data, end with its pod.
    const data = path.join(this.#folder, 'drill/data');
    await inPod(`if [ -e ${data} ]; then pg_ctl -D ${data} -m immediate stop; rm -r ${data}; fi`);
    return outcome;
  }
}

describe.skipIf(programFolder === undefined)(`The CronJobs of Kubernetes${reason}`, () => {
  it.each([
    ['public', []],
    ['delivery', []],
    ['public beside others', ['archive']],
  ])(
    'The CronJobs of Kubernetes dump a database with its tables in the schema %s, restore it, and tell what they found',
    async (named, others) => {
      const [schema = ''] = named.split(' ');
      const backedUp = await BackedUp.create(schema);
      for (const other of others) await migrate(backedUp.deployment.urls.owner, other);
      expect(await backedUp.run('backup')).toMatchObject({ code: 0, stderr: '' });
      expect(backedUp.dumps).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{6}Z\.dump$/)]);
      expect(await backedUp.run('restore-drill')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/Z\.dump: 0 coupons, 1 slots, the last change at \n$/),
      });
    },
  );

  it('The CronJobs of Kubernetes keep the newest fourteen dumps, and no part of one that was broken off', async () => {
    const backedUp = await BackedUp.create();
    const old = Array.from({ length: 14 }, (_dump, day) => `2026-10-${10 + day}T011500Z.dump`);
    const part = backedUp.pathOf('2026-10-24T011500Z.dump.part');
    for (const dump of [...old.map((name) => backedUp.pathOf(name)), part]) await writeFile(dump, '');
    await utimes(part, 0, 0);
    expect((await backedUp.run('backup')).code).toBe(0);
    expect(backedUp.dumps).toEqual([...old.slice(1), expect.stringMatching(/^202\d-.*Z\.dump$/)]);
  });

  it('The CronJobs of Kubernetes fail where there is no new dump, or a part of the newest is missing', async () => {
    const backedUp = await BackedUp.create();
    const noDump = { code: 1, stdout: '', stderr: 'there is no dump of the last two days\n' };
    expect(await backedUp.run('restore-drill')).toEqual(noDump);
    await backedUp.run('backup');
    const dump = backedUp.pathOf(backedUp.dumps[0] ?? '');
    const threeDaysAgo = Date.now() / 1_000 - 3 * 86_400;
    await utimes(dump, threeDaysAgo, threeDaysAgo);
    expect(await backedUp.run('restore-drill')).toEqual(noDump);
    await truncate(dump, 100_000);
    const { code, stderr } = await backedUp.run('restore-drill');
    expect(code).not.toBe(0);
    expect(stderr).toContain('pg_restore: error:');
  });
});
