const pattern = /^(\d{1,8})([HMSmun])$/;
const unitMs = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1_000],
  ['m', 1],
  ['u', 1e-3],
  ['n', 1e-6],
]);

/** Returns the milliseconds of a `grpc-timeout`; NaN for a malformed one. */
export function grpcTimeoutMs(timeout: string): number {
  const [, count, unit = ''] = pattern.exec(timeout) ?? [];
  return Number(count) * (unitMs.get(unit) ?? Number.NaN);
}
