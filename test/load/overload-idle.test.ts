import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { programArguments } from '../support/processes.ts';
import { isServing, memoryOf, openFilesOf, startTarget, type Target } from './overload-stage.ts';

// Node raises its limit of open files to the hard limit, also in the service and in the process of the connections.
const mayOpen = Number(
  /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Number.POSITIVE_INFINITY,
);

describe.each(['grpc', 'web'] as const)('Idle connections on the %s port', (kind) => {
  let target: Target;
  let connections: ChildProcess | undefined;
  let told = { open: 0, closed: 0 };
  beforeAll(async () => {
    target = await startTarget();
    await isServing(target);
  });
  afterEach(async () => {
    if (connections === undefined) return;
    connections.stdin?.end();
    if (connections.exitCode === null) await once(connections, 'exit');
    connections = undefined;
    await expect.poll(() => openFilesOf(target.replica)).toBeLessThan(1_000);
  });
  afterAll(() => target.stop());

  function open(count: number): void {
    const program = programArguments('test/load/idle-connections.ts');
    const port = kind === 'grpc' ? target.replica.ports.grpcPort : target.replica.ports.webPort;
    const opener = spawn(process.execPath, [...program, String(port), String(count), kind], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: opener.stdout }).on('line', (line) => {
      told = JSON.parse(line);
    });
    connections = opener;
    told = { open: 0, closed: 0 };
  }

  it('A service with 10,000 idle connections serves calls', async ({ skip }) => {
    skip(mayOpen < 11_000, `needs 11,000 open files, and the limit is ${mayOpen} (ulimit -Hn)`);
    const before = await memoryOf(target.replica);
    open(10_000);
    await expect.poll(() => told).toEqual({ open: 10_000, closed: 0 });
    // Those that sent nothing are open once the service has accepted them.
    await expect.poll(() => openFilesOf(target.replica)).toBeGreaterThanOrEqual(10_000);
    expect(await isServing(target)).toBe(true);
    expect((await memoryOf(target.replica)) - before).toBeLessThan(400);
  });

  it('A service closes connections beyond 15,000 at once', async ({ skip }) => {
    skip(mayOpen < 16_500, `needs 16,500 open files, and the limit is ${mayOpen} (ulimit -Hn)`);
    const filesBefore = await openFilesOf(target.replica);
    open(15_600);
    await expect.poll(() => told.open + told.closed).toBe(15_600);
    // Connections that are being closed count, too.
    expect(await openFilesOf(target.replica)).toBeLessThan(filesBefore + 15_100);
    await expect.poll(() => told.closed).toBeGreaterThanOrEqual(600);
    expect(await isServing(target)).toBe(true);
  });
});
