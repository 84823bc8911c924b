/** Environment variables, such as `process.env`. An empty value counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A reason not to start. Its message has a line for each problem, usually a variable that is wrong. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Collects problems, so that one start reports all of them. */
export class ConfigErrors {
  readonly #lines: string[] = [];

  add(line: string): void {
    this.#lines.push(line);
  }

  throwIfAny(): void {
    if (this.#lines.length > 0) throw new ConfigError(this.#lines.join('\n'));
  }
}

// Each of the functions below reads one variable. It returns `unset` if the variable is not set, and adds a line to
// `errors` if the value is invalid.

/** Reads a TCP port; 0 stands for any free one. */
export function readPort(env: Environment, name: string, unset: number, errors: ConfigErrors): number {
  return readInteger(env, name, unset, { max: 65_535, kind: 'a port from 0 to 65535' }, errors);
}

/** Reads a TCP port; undefined if the variable is not set. */
export function readOptionalPort(env: Environment, name: string, errors: ConfigErrors): number | undefined {
  return env[name] ? readPort(env, name, 0, errors) : undefined;
}

/** Reads a duration in milliseconds, at most one hour. */
export function readMilliseconds(env: Environment, name: string, unset: number, errors: ConfigErrors): number {
  const kind = 'a whole number of milliseconds, at most 3600000';
  return readInteger(env, name, unset, { max: 3_600_000, kind }, errors);
}

/** Reads a number from 1 to `max`. */
export function readCount(env: Environment, name: string, unset: number, max: number, errors: ConfigErrors): number {
  return readInteger(env, name, unset, { min: 1, max, kind: `a whole number from 1 to ${max}` }, errors);
}

/** Reads a number from 1 to `max`; undefined if the variable is not set. */
export function readOptionalCount(
  env: Environment,
  name: string,
  max: number,
  errors: ConfigErrors,
): number | undefined {
  return env[name] ? readCount(env, name, 1, max, errors) : undefined;
}

function readInteger(
  env: Environment,
  name: string,
  unset: number,
  { min = 0, max, kind }: { min?: number; max: number; kind: string },
  errors: ConfigErrors,
): number {
  const text = env[name];
  if (!text) return unset;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  errors.add(`${name} must be ${kind}, not "${text}"`);
  return unset;
}

/** Reads `true` or `false`. */
export function readSwitch(env: Environment, name: string, unset: boolean, errors: ConfigErrors): boolean {
  const text = env[name];
  if (!text) return unset;
  if (text !== 'true' && text !== 'false') errors.add(`${name} must be true or false, not "${text}"`);
  return text === 'true';
}

/** Reads a URL of one of the protocols, returned as given. No error quotes it, because it may contain a password. */
export function readUrl(
  env: Environment,
  name: string,
  protocols: readonly string[],
  errors: ConfigErrors,
): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text;
  errors.add(`${name} must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
  return undefined;
}

/** Reads a URL of PostgreSQL. */
export function readPostgresUrl(env: Environment, name: string, errors: ConfigErrors): string | undefined {
  return readUrl(env, name, ['postgres:', 'postgresql:'], errors);
}

/** Reads a comma-separated list; empty items are dropped. */
export function readList(env: Environment, name: string): string[] {
  const items = (env[name] ?? '').split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Reads a comma-separated list of `host:port`. */
export function readHostPorts(env: Environment, name: string, errors: ConfigErrors): HostPort[] {
  return readList(env, name).flatMap((item) => {
    const [, host, port] = /^([^\s:/@]+):(\d{1,5})$/.exec(item) ?? [];
    if (host !== undefined && Number(port) > 0 && Number(port) < 65_536) return [{ host, port: Number(port) }];
    errors.add(`${name} must be a list of host:port, which "${item}" is not`);
    return [];
  });
}
