import type { Logger } from 'pino';
import { TimeoutError, withTimeout } from '../cancellation/timeout.ts';

interface Step {
  readonly name: string;
  /** @param leftMs how long it may take. */
  stop(leftMs: number): Promise<unknown> | unknown;
  /** When `stop` takes too long: ends what it waits for, which has ended once `stopped` settles. */
  kill?(stopped: Promise<unknown>): Promise<void> | void;
}

// What calls in flight take until the deadline must not keep a job and the pools from an orderly end.
const afterDeadlineMs = 2_000;

/** What runs, in the order of its start: stopped in reverse under one deadline. */
export class ShutdownStack {
  readonly #steps: Step[] = [];
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  push(step: Step): void {
    this.#steps.push(step);
  }

  /**
   * Stops all of it; a step that fails or is too late does not keep the next ones from stopping, which
   * then have two seconds each.
   */
  async stop(deadlineMs: number): Promise<void> {
    const deadline = Date.now() + deadlineMs;
    let leftMs = deadlineMs;
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await within(leftMs, step);
      } catch (error) {
        this.#logger.error({ err: error, step: step.name }, 'a step of the shutdown failed');
      }
      leftMs = Math.max(deadline - Date.now(), afterDeadlineMs);
    }
  }
}

async function within(ms: number, step: Step): Promise<void> {
  const stopped = Promise.resolve(step.stop(ms));
  try {
    await withTimeout(stopped, ms, `${step.name} did not stop in time`);
  } catch (error) {
    if (error instanceof TimeoutError) await step.kill?.(stopped);
    throw error;
  }
}
