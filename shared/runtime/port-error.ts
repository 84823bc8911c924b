import { ConfigError } from '../config/variables.ts';

/** Returns a handler for errors of binding a port. It throws a `ConfigError` that explains the error. */
export function throwPortError(host: string, port: number): (error: unknown) => never {
  return (error) => {
    const text = error instanceof Error ? error.message : String(error);
    if (text.includes('EADDRNOTAVAIL')) throw new ConfigError(`BIND_ADDRESS ${host} is no address of this machine`);
    if (text.includes('EADDRINUSE')) throw new ConfigError(`port ${port} is in use by another process`);
    if (text.includes('EACCES')) throw new ConfigError(`port ${port} needs rights that this process lacks`);
    throw error;
  };
}
