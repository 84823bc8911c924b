import { expect } from 'vitest';
import { memoryOf } from '../bench/servers.ts';

/** The most memory that a process may take under attack. */
const maxMemoryMiB = 500;

/** How often an attack is tried again: other programs may take the processor in the middle of one. */
export const retries = 2;

const everyMs = 50;
/** No call may fail, on a busy machine either. How fast they are is judged by the time within which 95 % end. */
const deadlineMs = 10_000;
const quietDeadlineMs = 20_000;
/** So many calls come before the attack: the first ones of a process are slow. */
const warmUpCalls = 50;
/** So many calls tell how long one takes without the attack. */
const quietCalls = 40;
/** The least calls that a share is told of. */
const leastCalls = 60;

/** What became of the calls that a bystander made during an attack. */
export interface Bystander {
  /** The time within which 95 % of the calls ended. */
  readonly p95Ms: number;
  /** The same before the attack. It is some milliseconds, and more where other programs keep the machine busy. */
  readonly quietP95Ms: number;
  /** The messages of those that failed. */
  readonly failures: readonly string[];
}

/**
 * Makes a call every 50 ms, as a caller of its own, while an attack goes on, and for 3 s at the least.
 *
 * @param call makes the call with a deadline in milliseconds.
 */
export async function besides(
  call: (deadlineMs: number) => Promise<unknown>,
  attack: () => Promise<unknown>,
): Promise<Bystander> {
  for (let count = 0; count < warmUpCalls; count += 1) await call(quietDeadlineMs);
  const quiet: number[] = [];
  for (let count = 0; count < quietCalls; count += 1) quiet.push(await timeOf(() => call(quietDeadlineMs)));

  const failures: string[] = [];
  const calls: Promise<number>[] = [];
  const one = () => timeOf(() => call(deadlineMs).catch((error: unknown) => failures.push(String(error))));
  let isOver = false;
  const enough = new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      calls.push(one());
      if (!isOver || calls.length < leastCalls) return;
      clearInterval(timer);
      resolve();
    }, everyMs);
  });
  await attack().finally(() => {
    isOver = true;
  });
  await enough;
  const times = await Promise.all(calls);
  return { p95Ms: p95(times), quietP95Ms: p95(quiet), failures };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function p95(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
}

/** Asserts that another caller is not harmed by an attack on a process, and that this takes no more memory than it may. */
export async function expectNoHarm(
  process: { readonly pid: number },
  call: (deadlineMs: number) => Promise<unknown>,
  attack: () => Promise<unknown>,
  withinMs?: number,
): Promise<void> {
  let mostMiB = 0;
  const sampling = setInterval(async () => {
    mostMiB = Math.max(mostMiB, await memoryOf(process));
  }, 100);
  const bystander = await besides(call, attack).finally(() => clearInterval(sampling));
  expectUnharmed(bystander, withinMs);
  expect(mostMiB).toBeLessThan(maxMemoryMiB);
}

/**
 * Every call succeeded, and 95 % ended within half a second, unless told otherwise, or within 40 times what they take on a
 * machine that is busy with other programs.
 */
export function expectUnharmed({ p95Ms, quietP95Ms, failures }: Bystander, withinMs = 500): void {
  expect(failures).toEqual([]);
  expect(p95Ms).toBeLessThan(Math.max(withinMs, 40 * quietP95Ms));
}
