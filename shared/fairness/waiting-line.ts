import { RoundRobin } from './round-robin.ts';

/** How late a wait may end that takes too long. A timer for each would cost more than the waits. */
const lateMs = 250;

/** Somebody who waits for a turn. */
export interface Waiter {
  /** The longest that it waits, by `performance.now()`. */
  readonly untilMs: number;
  /** Ends the wait without a turn, and takes the waiter out of the line. */
  leave(): void;
}

/** Waiters in queues, one for each caller; the queues are served in turn. Who has waited for too long leaves. */
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
