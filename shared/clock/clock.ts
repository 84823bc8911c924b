/** PostgreSQL's time. It goes on by the monotonic clock, so that no clock of this machine, right or wrong, judges anything. */
export class DatabaseClock {
  /** How far PostgreSQL's time is ahead of `performance.now()`. Before the first answer, only this machine can tell. */
  #aheadMs = Date.now() - performance.now();

  /** PostgreSQL's time, in epoch milliseconds. */
  now(): number {
    return performance.now() + this.#aheadMs;
  }

  /** How far the clock of this machine is ahead of it, in milliseconds. */
  get offsetMs(): number {
    return Date.now() - this.now();
  }

  /**
   * Takes over the time that PostgreSQL has just answered with, no further than the answer proves: however long it has
   * travelled, the time does not jump.
   *
   * @param sentAtMs when it was asked, by `performance.now()`.
   */
  learn(serverMs: number, sentAtMs: number): void {
    const leastMs = serverMs - performance.now();
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, leastMs), serverMs - sentAtMs);
  }
}
