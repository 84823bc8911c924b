/** Caps a timeout, in milliseconds, at the longest delay of a timer. A longer timer would fire at once. */
export function capTimeout(timeoutMs: number): number {
  return Math.min(timeoutMs, 2 ** 31 - 1);
}
