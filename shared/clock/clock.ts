/** PostgreSQL's time, advanced by the monotonic clock, so that a wrong clock on this machine does not matter. */
export class DatabaseClock {
  /**
   * How far PostgreSQL's time is ahead of `performance.now()`. Until the first answer, this machine's clock stands in.
   */
  #aheadMs = Date.now() - performance.now();

  /** PostgreSQL's time, in epoch milliseconds. */
  now(): number {
    return performance.now() + this.#aheadMs;
  }

  /** How far this machine's clock is ahead of PostgreSQL's, in milliseconds. */
  get offsetMs(): number {
    return Date.now() - this.now();
  }

  /**
   * Adjusts the time to an answer from PostgreSQL, but only as far as the answer proves it wrong. A slow answer
   * therefore never makes the time jump.
   *
   * @param serverMs PostgreSQL's time in the answer, in epoch milliseconds.
   * @param sentAtMs when the query was sent, by `performance.now()`.
   */
  learn(serverMs: number, sentAtMs: number): void {
    const leastMs = serverMs - performance.now();
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, leastMs), serverMs - sentAtMs);
  }
}
