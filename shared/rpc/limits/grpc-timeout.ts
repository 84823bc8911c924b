import { maxTimerMs } from './limits.ts';

const pattern = /^(\d{1,8})([HMS])$/;
const unitMs = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1_000],
]);

/** Caps a `grpc-timeout` at the longest delay of a timer: a longer one would end its call at once. */
export function capGrpcTimeout(timeout: string): string {
  const [, count, unit = ''] = pattern.exec(timeout) ?? [];
  return Number(count) * (unitMs.get(unit) ?? 0) > maxTimerMs ? `${Math.floor(maxTimerMs / 1000)}S` : timeout;
}
