import { ConfigError } from '../config/variables.ts';

/**
 * A library of which this project uses parts that the library does not promise to keep. package.json
 * therefore pins exactly the version that this release was written for.
 */
export class PinnedLibrary {
  readonly name: string;
  readonly version: string;

  constructor(name: string, version: string) {
    this.name = name;
    this.version = version;
  }

  /** Throws the `error` of a difference, unless the library is `asExpected`. */
  check(asExpected: boolean, difference: string): void {
    if (!asExpected) throw this.error(difference);
  }

  /** An error of one line: what differs, and the version that works. */
  error(difference: string): ConfigError {
    return new ConfigError(`${this.name} ${difference}: this release works with exactly ${this.version}`);
  }
}
