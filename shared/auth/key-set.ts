import type { Logger } from 'pino';
import { oneAtATime } from '../telemetry/metrics.ts';
import { fetchKeys, keySetAlgorithms } from './fetch-keys.ts';
import { isWeak, type Keys, KeysUnavailableError, type VerificationKey } from './keys.ts';

/** The times of a key set, in milliseconds. */
export interface KeySetTimes {
  /** From the end of a fetch to the next one, while the keys are in use. */
  readonly refreshMs: number;
  /** From the end of a fetch that an unknown key caused to the next such fetch. */
  readonly unknownKeyMs: number;
  /** How long a fetch may take. */
  readonly timeoutMs: number;
  /** How long the keys serve on after the last fetch that succeeded. */
  readonly serveOnMs: number;
}

/** The times of services; tests have shorter ones. */
export const keySetTimes: KeySetTimes = {
  refreshMs: 30_000,
  unknownKeyMs: 5_000,
  timeoutMs: 5_000,
  serveOnMs: 24 * 60 * 60 * 1000,
};

export interface KeySetOptions {
  readonly url: URL;
  readonly logger: Logger;
  /** Whether tokens are known that must end when their keys leave. */
  readonly isNeeded: () => boolean;
  readonly times?: KeySetTimes | undefined;
}

/**
 * The keys at AUTH_JWKS_URL (design 8). They are fetched again every 30 s while they are in use, so that a key that
 * leaves the set is gone within 60 s, and when a token names an unknown key. If a fetch fails, the keys known so far
 * serve on for a day.
 */
export class KeySet implements Keys {
  readonly algorithms = keySetAlgorithms;
  readonly #options: KeySetOptions;
  readonly #times: KeySetTimes;
  /** One fetch at a time, whoever needs it. */
  readonly #refresh = oneAtATime(() => this.#fetch());
  #keys: ReadonlyMap<string, VerificationKey> = new Map();
  #fetchBeganAt = Number.NEGATIVE_INFINITY;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  /** Why the last fetch failed; undefined if it succeeded. */
  #failure: unknown;
  /** Asleep, the keys are not fetched, so that they may be older than `refreshMs`. */
  #isAsleep = true;
  #wasAsked = false;
  #mayLookAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #fetching: AbortController | undefined;
  #isClosed = false;

  /** Begins the first fetch, so that a wrong URL shows in the log before the first call. */
  constructor(options: KeySetOptions) {
    this.#options = options;
    this.#times = options.times ?? keySetTimes;
    void this.#refresh();
  }

  async find(algorithm: string, kid: string | undefined): Promise<readonly VerificationKey[]> {
    this.#wasAsked = true;
    const askedAt = performance.now();
    if (this.#isAsleep) await this.#refresh();
    // A fetch that began before this call may have missed a key that the provider has just published.
    if (this.#fetchBeganAt < askedAt && this.#select(algorithm, kid).length === 0) await this.#lookForUnknownKey();
    const found = this.#select(algorithm, kid);
    if (found.length === 0 && this.#failure !== undefined) {
      throw new KeysUnavailableError('the key set could not be fetched', { cause: this.#failure });
    }
    return found;
  }

  has({ fingerprint }: VerificationKey): boolean {
    return this.#keys.has(fingerprint);
  }

  /** Ends the fetches. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#fetching?.abort();
  }

  /** A token without a `kid` may be signed by any key of its algorithm. */
  #select(algorithm: string, kid: string | undefined): VerificationKey[] {
    const keys = [...this.#keys.values()];
    return keys.filter((key) => key.algorithm === algorithm && (kid === undefined || key.kid === kid) && !isWeak(key));
  }

  async #lookForUnknownKey(): Promise<void> {
    if (performance.now() < this.#mayLookAt) return;
    await this.#refresh();
    this.#mayLookAt = performance.now() + this.#times.unknownKeyMs;
  }

  async #fetch(): Promise<void> {
    this.#fetchBeganAt = performance.now();
    const { timeoutMs } = this.#times;
    const fetching = new AbortController();
    const timeout = setTimeout(() => fetching.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    this.#fetching = fetching;
    try {
      this.#accept(await fetchKeys(this.#options.url, fetching.signal));
    } catch (error) {
      this.#serveOn(error);
    } finally {
      clearTimeout(timeout);
    }
    this.#isAsleep = false;
    this.#scheduleRefresh();
  }

  #accept(keys: ReadonlyMap<string, VerificationKey>): void {
    const isSame =
      keys.size === this.#keys.size && [...keys.keys()].every((fingerprint) => this.#keys.has(fingerprint));
    if (!isSame || this.#failure !== undefined) {
      this.#options.logger.info({ kids: [...keys.values()].map(({ kid }) => kid) }, 'the key set was fetched');
      const weak = [...keys.values()].filter(isWeak).map(({ kid }) => kid);
      if (weak.length > 0) {
        this.#options.logger.warn({ kids: weak }, 'RSA keys of the key set that are under 2,048 bits are left out');
      }
    }
    this.#keys = keys;
    this.#fetchedAt = performance.now();
    this.#failure = undefined;
  }

  #serveOn(error: unknown): void {
    this.#failure = error;
    if (this.#isClosed) return;
    if (performance.now() - this.#fetchedAt > this.#times.serveOnMs) this.#keys = new Map();
    const consequence = this.#keys.size > 0 ? 'the keys known so far serve on' : 'no token can be verified';
    this.#options.logger.warn({ err: error }, `the key set could not be fetched: ${consequence}`);
  }

  #scheduleRefresh(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#refreshIfUsed(), this.#times.refreshMs);
    this.#timer.unref();
  }

  #refreshIfUsed(): void {
    this.#isAsleep = !this.#wasAsked && !this.#options.isNeeded();
    this.#wasAsked = false;
    if (!this.#isAsleep) void this.#refresh();
  }
}
