// A `Date` header has no fractions of a second, and an answer takes its time.
const accuracyMs = 1_500;

/**
 * The services' clock, by which they judge tokens, slots and coupons (design 8). This computer's clock may be wrong, so
 * each answer's `Date` header corrects it.
 */
export class ServiceClock {
  #aheadMs = 0;
  readonly #listeners = new Set<() => void>();

  /** Returns the services' time in Unix ms; this computer's until a service has answered. */
  readonly now = (): number => Date.now() + this.#aheadMs;

  /** Calls the listener whenever the clock has been corrected. Returns a function that ends this. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Sets the clock by a page that was sent at one time and arrived at the other by this computer's clock, in Unix ms. */
  start(sentAt: number, arrivedAt: number): void {
    this.#correct(sentAt - arrivedAt);
  }

  /** Corrects the clock by an answer that has arrived just now. `sentAt` is when its request was sent, by `Date.now`. */
  learn(headers: Headers, sentAt: number): void {
    const date = Date.parse(headers.get('date') ?? '');
    // The middle of the second that the header names, and of the time that the call has taken.
    if (!Number.isNaN(date)) this.#correct(date + 500 - (sentAt + Date.now()) / 2);
  }

  #correct(aheadMs: number): void {
    if (Math.abs(aheadMs - this.#aheadMs) < accuracyMs) return;
    this.#aheadMs = aheadMs;
    for (const listener of this.#listeners) listener();
  }
}

/** The page's only clock. */
export const clock = new ServiceClock();
