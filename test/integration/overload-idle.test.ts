import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { programArguments } from '../support/processes.ts';
import { isServing, memoryOf, openFilesOf, startTarget, type Target } from './overload-stage.ts';

// Node takes all that the hard limit allows; the service and the process of the connections have it, too.
const mayOpen = Number(
  /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Number.POSITIVE_INFINITY,
);
const polling = { timeout: 30_000, interval: 50 };

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
    await expect.poll(() => openFilesOf(target), polling).toBeLessThan(1_000);
  });
  afterAll(() => target.stop());

  function open(count: number): void {
    const program = programArguments('test/integration/idle-connections.ts');
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

  it('are served beside, when they are 10,000', { timeout: 60_000 }, async ({ skip }) => {
    skip(mayOpen < 11_000, `needs 11,000 open files, and the limit is ${mayOpen} (ulimit -Hn)`);
    const before = await memoryOf(target);
    const filesBefore = await openFilesOf(target);
    open(10_000);
    await expect.poll(() => openFilesOf(target), polling).toBeGreaterThanOrEqual(filesBefore + 10_000);
    await expect.poll(() => told, polling).toEqual({ open: 10_000, closed: 0 });
    expect(await isServing(target)).toBe(true);
    expect((await memoryOf(target)) - before).toBeLessThan(400);
  });

  it('are closed at once beyond 15,000', { timeout: 60_000 }, async ({ skip }) => {
    skip(mayOpen < 16_500, `needs 16,500 open files, and the limit is ${mayOpen} (ulimit -Hn)`);
    const filesBefore = await openFilesOf(target);
    open(15_600);
    await expect.poll(() => told.open + told.closed, polling).toBe(15_600);
    // Those that it is just closing are there, too.
    expect(await openFilesOf(target)).toBeLessThan(filesBefore + 15_100);
    await expect.poll(() => told.closed, polling).toBeGreaterThanOrEqual(600);
    expect(await isServing(target)).toBe(true);
  });
});
