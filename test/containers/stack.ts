import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { build } from 'esbuild';
import { projectRoot } from '../../services/dev/settings.ts';
import { signToken } from '../../services/dev/sign-token.ts';
import { compose, docker } from './engine.ts';

const password = () => randomBytes(16).toString('hex');
const env = {
  COMPOSE_PROJECT_NAME: 'delivery-admin-test',
  POSTGRES_PASSWORD: password(),
  SERVICE_PASSWORD: password(),
  REDIS_PASSWORD: password(),
  AUTH_JWT_SECRET: password(),
  // A page of a test is on a port of its own.
  CORS_ORIGINS: 'http://localhost:*',
};

/** The ports that docker-compose.yml publishes. */
export const published = {
  slot: { grpcPort: 50051, webPort: 8051 },
  coupon: { grpcPort: 50052, webPort: 8052 },
  console: { webPort: 8050 },
};

/** docker-compose.yml as it is, under a project name of its own, with one staff user. */
export class Stack {
  /** A token of the staff user. */
  readonly token: string;
  readonly #staffId: number;

  private constructor(token: string, staffId: number) {
    this.token = token;
    this.#staffId = staffId;
  }

  /** @param folder whose `docker-compose.yml` starts it: this project, or another release of it. */
  static async up(folder = projectRoot): Promise<Stack> {
    // What a run left that was broken off.
    await run('down', '--volumes', '--remove-orphans');
    await run('--file', path.join(folder, 'docker-compose.yml'), 'up', '--detach', '--build', '--wait');
    const staff = ['run', '--rm', '-T', 'migrate', 'node', 'dist/shared/auth/staff-main.js', 'add', 'Asha Menon'];
    const staffId = Number.parseInt(await run(...staff), 10);
    return new Stack(await sign('staff', staffId), staffId);
  }

  /** A command of Compose. Resolves with what it prints. */
  run(...args: readonly string[]): Promise<string> {
    return run(...args);
  }

  /** The ids of the containers of a service, of one that runs; of all services if none is named. */
  async containersOf(...services: readonly string[]): Promise<string[]> {
    return (await run('ps', '--quiet', ...services)).split('\n').filter((id) => id !== '');
  }

  /** The values in the first column of what a statement returns. */
  async sql(statement: string): Promise<string[]> {
    const psql = ['psql', '--username', 'admin', '--dbname', 'delivery_admin', '--no-align', '--tuples-only'];
    const rows = await run('exec', '-T', 'postgres', ...psql, '--quiet', '--command', statement);
    return rows.split('\n').filter((row) => row !== '');
  }

  /** Starts the containers that are missing of two, and waits for their health. The others stay as they are. */
  async refill(service: string, replicas = 2): Promise<void> {
    const scale = ['--scale', `${service}=${replicas}`];
    await run('up', '--detach', '--no-deps', '--no-recreate', ...scale, '--wait', service);
  }

  /** Starts a container that calls slot-service at an address all the time. Resolves with its id. */
  async startCaller(address: string, subject: string): Promise<string> {
    const program = `
      import { setTimeout as pause } from 'node:timers/promises';
      import { createGrpcClient } from './services/client/client.ts';
      import { SlotService } from './shared/gen/slot/v1/slot_service_pb.ts';
      const slots = createGrpcClient(SlotService, { addresses: ['${address}'], token: process.env.TOKEN });
      for (;;) {
        await slots.getSlotsProductIds({ slotIds: [1] }).catch(console.error);
        await pause(50);
      }`;
    // The image has no client, but the packages that it needs.
    const file = path.join(projectRoot, 'node_modules/.cache/test-caller.mjs');
    const source = { contents: program, resolveDir: projectRoot };
    await build({ stdin: source, bundle: true, packages: 'external', platform: 'node', format: 'esm', outfile: file });
    const options = ['--volume', `${file}:/app/caller.mjs:ro`, '--env', `TOKEN=${await sign(subject, this.#staffId)}`];
    return run('run', '--detach', '--no-deps', ...options, 'migrate', 'node', 'caller.mjs');
  }

  /** Kills the process of a container from outside, as a crash or a lack of memory does. */
  async crash(container: string): Promise<void> {
    const pid = await docker('inspect', '--format', '{{.State.Pid}}', container);
    const rights = ['--pid', 'host', '--user', '0', '--cap-drop', 'ALL', '--cap-add', 'KILL'];
    await docker('run', '--rm', ...rights, 'delivery-admin', 'node', '-e', `process.kill(${pid}, 'SIGKILL')`);
  }

  /** The ids of the open slots as the stores of one replica show them. */
  async openSlotIds(container: string): Promise<number[]> {
    const answer = await docker(
      ...['exec', '--env', `TOKEN=${this.token}`, container, 'node', '--input-type=module', '-e'],
      `const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.TOKEN };
       const url = 'http://127.0.0.1:8051/slot.v1.SlotStoreService/GetOpenSlots';
       const response = await fetch(url, { method: 'POST', headers, body: '{}' });
       const { slots = [] } = await response.json();
       console.log(JSON.stringify(slots.map(({ id }) => id)));`,
    );
    return JSON.parse(answer);
  }

  /** Whether a replica has answered calls of a subject lately. */
  async answers(container: string, subject = 'staff'): Promise<boolean> {
    const log = await docker('logs', '--since', '5s', '--tail', '500', container);
    return log.includes(`"sub":"${subject}"`);
  }

  /** Ends it, and removes its data. */
  async remove(): Promise<void> {
    await run('down', '--volumes', '--remove-orphans');
  }
}

const run = (...args: readonly string[]) => compose(args, env);
const sign = (subject: string, staffId: number) =>
  signToken(env.AUTH_JWT_SECRET, { subject, staffId, lifetimeSeconds: 3_600 }, {});
