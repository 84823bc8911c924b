import { expect } from 'vitest';

const everyMs = 50;
const deadlineMs = 2_000;
/** So many calls come before the attack: the first ones of a process are slow. */
const warmUpCalls = 50;
/** The least calls that a share is told of. */
const leastCalls = 60;

/** What became of the calls that a bystander made during an attack. */
export interface Bystander {
  readonly calls: number;
  /** The part of the calls that succeeded. */
  readonly succeeded: number;
  /** The time within which 95 % of the calls ended. */
  readonly p95Ms: number;
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
  for (let count = 0; count < warmUpCalls; count += 1) await call(deadlineMs * 10);
  const times: number[] = [];
  const failures: string[] = [];
  const calls: Promise<void>[] = [];
  const one = async () => {
    const start = performance.now();
    await call(deadlineMs).catch((error: unknown) => failures.push(String(error)));
    times.push(performance.now() - start);
  };
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
  await Promise.all(calls);
  times.sort((left, right) => left - right);
  return {
    calls: times.length,
    succeeded: 1 - failures.length / times.length,
    p95Ms: times[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN,
    failures: [...new Set(failures)],
  };
}

/** At least 95 % of the calls succeeded, and 95 % ended within half a second. */
export function expectUnharmed({ succeeded, p95Ms, failures }: Bystander): void {
  expect(succeeded, failures.join('\n')).toBeGreaterThanOrEqual(0.95);
  expect(p95Ms).toBeLessThan(500);
}
