import { vi } from 'vitest';
import { patienceMs } from './patience.ts';

/**
 * Tries until the attempt no longer fails, and returns its result. For hooks and helpers: in a test,
 * `expect.poll` does the same and says what it saw.
 *
 * @param timeoutMs stands for a hang, not for speed, unless the test says so.
 */
export function eventually<Result>(attempt: () => Result | Promise<Result>, timeoutMs = patienceMs): Promise<Result> {
  return vi.waitFor(attempt, { timeout: timeoutMs, interval: 25 });
}
