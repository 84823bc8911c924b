import { checkGrpcJs } from './grpc-js.ts';
import { checkPg } from './pg.ts';

/**
 * Checks that the libraries of every service still have the undocumented parts that this project uses (design 6).
 * Throws a `ConfigError` that names the library, the difference and the version that works. BullMQ is checked when its
 * pool is created, because most processes never load it.
 */
export function checkInternals(): void {
  checkGrpcJs();
  checkPg();
}
