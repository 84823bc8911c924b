import type { Database } from '../db/database.ts';

const probeEveryMs = 1_000;
// Longer than a busy process takes to read an answer that has come.
const answerWithinMs = 2_000;

/**
 * Asks the database once a second whether it answers. Everybody who asks whether the service is ready
 * gets the last answer, so that their questions cost the database nothing.
 */
export class Readiness {
  readonly #timer: NodeJS.Timeout;
  readonly #listeners: ((isReady: boolean) => void)[] = [];
  #isReady = true;
  #isProbing = false;

  /** @param database one that has answered just now. */
  constructor(database: Database) {
    this.#timer = setInterval(() => void this.#probe(database), probeEveryMs).unref();
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Calls `listener` with each change. */
  onChange(listener: (isReady: boolean) => void): void {
    this.#listeners.push(listener);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #probe(database: Database): Promise<void> {
    // The last answer may still be due.
    if (this.#isProbing) return;
    this.#isProbing = true;
    const isReady = await database.answers(AbortSignal.timeout(answerWithinMs));
    this.#isProbing = false;
    if (isReady === this.#isReady) return;
    this.#isReady = isReady;
    for (const listener of this.#listeners) listener(isReady);
  }
}
