import { Signal } from './signal.ts';

// A `Date` header has no fractions of a second, and an answer takes its time.
const accuracyMs = 1_500;
const aheadMs = new Signal(0);

/** The services' clock, by which they judge tokens, slots and coupons (design 8): this computer's may be wrong. */
export const clock = {
  /** Returns the services' time in Unix ms; this computer's until a service has answered. */
  now: () => Date.now() + aheadMs.state,
  subscribe: aheadMs.subscribe,
  /** Corrects the clock by two readings of one moment in Unix ms. One that is no number changes nothing. */
  correct(theirs: number, ours: number): void {
    if (Math.abs(theirs - ours - aheadMs.state) >= accuracyMs) aheadMs.set(theirs - ours);
  },
};
