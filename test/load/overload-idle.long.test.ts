import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { programArguments } from '../support/processes.ts';
import { connectionsTo, isServing, startTarget, type Target, toMiB } from './overload-stage.ts';

// Node raises its limit of open files to the hard limit, also in the service and in the process of the connections.
const mayOpen = Number(
  /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Number.POSITIVE_INFINITY,
);

/** The system takes a while to list so many connections. */
const reading = { interval: 250 };
/** What an idle connection may cost. */
const connectionBytes = 40 * 1024;

describe.each(['grpc', 'web'] as const)('Idle connections on the %s port', (kind) => {
  let target: Target;
  let port: number;
  let opener: ChildProcess | undefined;
  let told = { open: 0, closed: 0 };
  beforeAll(async () => {
    target = await startTarget();
    port = target.replica.ports[`${kind}Port`];
  });
  afterEach(async () => {
    if (opener === undefined) return;
    opener.stdin?.end();
    if (opener.exitCode === null) await once(opener, 'exit');
    opener = undefined;
    await eventually(async () => expect(await connectionsTo(port)).toBeLessThan(1_000));
  });

  function open(count: number): void {
    const program = programArguments('test/load/idle-connections.ts');
    const child = spawn(process.execPath, [...program, String(port), String(count), kind], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      told = JSON.parse(line);
    });
    opener = child;
    told = { open: 0, closed: 0 };
  }

  it('A service with 10,000 idle connections serves calls', async ({ skip }) => {
    skip(mayOpen < 11_000, `needs 11,000 open files, and the limit is ${mayOpen} (ulimit -Hn)`);
    await target.measureGrowth();
    open(10_000);
    await expect.poll(() => told).toEqual({ open: 10_000, closed: 0 });
    await expect.poll(() => connectionsTo(port), reading).toBeGreaterThanOrEqual(10_000);
    expect(await isServing(target)).toBe(true);
    expect(await target.grown()).toBeLessThan(toMiB(10_000 * connectionBytes));
  });

  it('A service closes connections beyond 15,000 at once', async ({ skip }) => {
    skip(mayOpen < 16_500, `needs 16,500 open files, and the limit is ${mayOpen} (ulimit -Hn)`);
    open(15_600);
    await expect.poll(() => told.open + told.closed).toBe(15_600);
    // Connections that are being closed count, too.
    expect(await connectionsTo(port)).toBeLessThan(15_100);
    await expect.poll(() => told.closed).toBeGreaterThanOrEqual(600);
    expect(await isServing(target)).toBe(true);
  });
});
