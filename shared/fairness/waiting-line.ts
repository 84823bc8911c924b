import { RoundRobin } from './round-robin.ts';

/** How late an expired wait may end. One shared timer is far cheaper than one per wait. */
const lateMs = 250;

/** A waiting call. */
export interface Waiter {
  /** The end of the wait, by `performance.now()`. */
  readonly untilMs: number;
  /** Ends the wait without a turn and removes the waiter from the line. */
  leave(): void;
}

/** One queue of waiters per caller, served in turn. A waiter whose time has run out leaves. */
export class WaitingLine<Item extends Waiter> extends RoundRobin<Item> {
  #timer: NodeJS.Timeout | undefined;

  override push(subject: string | undefined, waiter: Item): void {
    super.push(subject, waiter);
    this.#timer ??= setTimeout(() => this.#endLongWaits(), lateMs);
  }

  #endLongWaits(): void {
    const nowMs = performance.now();
    for (const waiter of this.items()) if (waiter.untilMs <= nowMs) waiter.leave();
    this.#timer = this.size > 0 ? setTimeout(() => this.#endLongWaits(), lateMs) : undefined;
  }
}
