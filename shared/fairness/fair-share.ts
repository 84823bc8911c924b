/**
 * An amount that callers share, such as bytes of memory. A caller may hold at most as much as is still free, just as
 * the ports of a switch share its buffer. A single caller gets half, so that something is always left for the next one.
 * Anything beyond the share is refused.
 */
export class FairShare {
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(capacity: number) {
    this.#free = capacity;
  }

  heldBy(subject: string): number {
    return this.#held.get(subject) ?? 0;
  }

  /** Whether a caller may hold `amount` more. */
  fits(subject: string, amount: number): boolean {
    return this.heldBy(subject) + amount <= this.#free - amount;
  }

  /** Takes `amount` more for a caller. Returns false and takes nothing when that exceeds its share. */
  take(subject: string, amount = 1): boolean {
    const fits = this.fits(subject, amount);
    if (fits) this.add(subject, amount);
    return fits;
  }

  /** Takes `amount` more for a caller, even beyond its share. */
  add(subject: string, amount: number): void {
    this.#held.set(subject, this.heldBy(subject) + amount);
    this.#free -= amount;
  }

  release(subject: string, amount = 1): void {
    const left = this.heldBy(subject) - amount;
    if (left > 0) this.#held.set(subject, left);
    else this.#held.delete(subject);
    this.#free += amount;
  }
}
