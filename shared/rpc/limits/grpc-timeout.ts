import { maxTimerMs } from './limits.ts';

const pattern = /^(\d{1,8})([HMSmun])$/;
const unitMs = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1_000],
]);

/**
 * Caps a `grpc-timeout` at the longest delay of a timer: a longer one would end its call at once. Returns undefined for
 * a value that is no timeout.
 */
export function capGrpcTimeout(timeout: string): string | undefined {
  const [whole, count, unit = ''] = pattern.exec(timeout) ?? [];
  if (whole === undefined) return undefined;
  return Number(count) * (unitMs.get(unit) ?? 0) > maxTimerMs ? `${Math.floor(maxTimerMs / 1000)}S` : timeout;
}
