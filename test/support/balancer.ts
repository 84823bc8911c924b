import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePort } from '../../services/dev/ports.ts';

export interface Ports {
  readonly grpcPort: number;
  readonly webPort: number;
}

/** A load balancer before the replicas of slot-service, with its file of `docker/`. */
export interface Balancer extends Ports {
  stop(): Promise<void>;
}

/** A program that balances. */
export interface BalancerKind {
  readonly name: 'nginx' | 'HAProxy';
  /** Why it can't be tested here; undefined when it can. */
  readonly missing: string | undefined;
  /** @param replicas the ports of the replicas, whose addresses a name server knows by `slot-service`. */
  start(replicas: Ports, nameServerPort: number): Promise<Balancer>;
}

const nginx = process.env.NGINX ?? 'nginx';
const haproxy = process.env.HAPROXY ?? 'haproxy';

export const balancers: readonly BalancerKind[] = [
  {
    name: 'nginx',
    missing: missing(nginx, '-v', /nginx\/(1)\.(\d+)\.(\d+)/, 1 * 1e6 + 27 * 1e3 + 3, '1.27.3'),
    start: (replicas, nameServerPort) =>
      startBalancer('nginx.conf', replicas, nameServerPort, (file, folder) => ({
        command: nginx,
        args: ['-p', folder, '-c', file, '-e', 'stderr', '-g', 'daemon off; error_log stderr crit;'],
      })),
  },
  {
    name: 'HAProxy',
    missing: missing(haproxy, '-v', /version (\d+)\.(\d+)\.(\d+)/, 2 * 1e6 + 6 * 1e3, '2.6'),
    start: (replicas, nameServerPort) =>
      startBalancer('haproxy.cfg', replicas, nameServerPort, (file) => ({
        command: haproxy,
        args: ['-db', '-f', file],
      })),
  },
];

function missing(command: string, option: string, pattern: RegExp, least: number, leastName: string) {
  const { status, stdout, stderr } = spawnSync(command, [option], { encoding: 'utf8' });
  if (status !== 0) return `no ${path.basename(command)} at ${path.basename(command).toUpperCase()} or on the PATH`;
  const [version = '', major = 0, minor = 0, patch = 0] = pattern.exec(`${stdout}${stderr}`) ?? [];
  const number = Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch);
  return number >= least ? undefined : `${version} is older than ${leastName}`;
}

async function startBalancer(
  name: string,
  replicas: Ports,
  nameServerPort: number,
  commandOf: (file: string, folder: string) => { readonly command: string; readonly args: string[] },
): Promise<Balancer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'balancer-test-'));
  // The workers of nginx run as another user when this process is root.
  await chmod(folder, 0o755);
  const ports = { grpcPort: await findFreePort(), webPort: await findFreePort() };
  const text = await readFile(new URL(`../../docker/${name}`, import.meta.url), 'utf8');
  const file = path.join(folder, name);
  await writeFile(file, await settle(text, replicas, ports, nameServerPort, folder));
  const { command, args } = commandOf(file, folder);
  // nginx itself takes NGINX for a list of sockets.
  const { NGINX: _nginx, ...env } = process.env;
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  return {
    ...ports,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Puts a test's own addresses and folder where a file has those of docker-compose.yml. Changes nothing else. */
async function settle(text: string, replicas: Ports, ports: Ports, nameServerPort: number, folder: string) {
  const [couponGrpcPort, couponWebPort] = [await findFreePort(), await findFreePort()];
  return text
    .replace(/127\.0\.0\.11(:53)?/, `127.0.0.1:${nameServerPort}`)
    .replaceAll('/tmp/', `${folder}/`)
    .replaceAll('slot-service:50051', `slot-service:${replicas.grpcPort}`)
    .replaceAll('slot-service:8051', `slot-service:${replicas.webPort}`)
    .replaceAll('server port 8051', `server port ${replicas.webPort}`)
    .replace(/\b50051\b/g, String(ports.grpcPort))
    .replace(/\b8051\b/g, String(ports.webPort))
    .replace(/(?<!:)\b50052\b|(?<=bind :)50052\b/g, String(couponGrpcPort))
    .replace(/(?<!:)\b8052\b|(?<=bind :)8052\b/g, String(couponWebPort));
}

/** Answers every question for an address with all of the given ones, as Docker does for a service with replicas. */
export async function startNameServer(addresses: readonly string[]): Promise<{ port: number; close(): void }> {
  const server = createSocket('udp4');
  server.on('message', (question, { port, address }) => {
    // The header of 12 bytes, the name up to its empty label, and 4 bytes of type and class.
    const end = question.indexOf(0, 12) + 5;
    const isForIpv4 = question.readUInt16BE(end - 4) === 1;
    const records = isForIpv4 ? addresses : [];
    const answer = Buffer.concat([
      question.subarray(0, 2),
      Buffer.from([0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0]),
      question.subarray(12, end),
      // By a reference to the name: type A, class IN, for 1 s, 4 bytes.
      ...records.map((one) => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...one.split('.').map(Number)])),
    ]);
    server.send(answer, port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: server.address().port, close: () => void server.close() };
}
