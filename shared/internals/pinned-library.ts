import { ConfigError } from '../config/variables.ts';

/**
 * A library of which this project uses undocumented parts. package.json therefore pins the exact version that
 * this release was written for.
 */
export class PinnedLibrary {
  readonly name: string;
  readonly version: string;

  constructor(name: string, version: string) {
    this.name = name;
    this.version = version;
  }

  /** Throws the `error` of `difference` unless `asExpected`. */
  check(asExpected: boolean, difference: string): void {
    if (!asExpected) throw this.error(difference);
  }

  /** Creates a one-line error with the difference and the version that works. */
  error(difference: string): ConfigError {
    return new ConfigError(`${this.name} ${difference}: this release works with exactly ${this.version}`);
  }
}
