/** Caps a timeout at the longest delay of a timer, which would fire at once for a longer one. */
export function capTimeout(timeoutMs: number): number {
  return Math.min(timeoutMs, 2 ** 31 - 1);
}
