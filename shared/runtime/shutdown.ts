import type { Logger } from 'pino';
import { TimeoutError, withTimeout } from '../cancellation/timeout.ts';

interface Step {
  readonly name: string;
  /** @param leftMs the time left for this step, in milliseconds. */
  stop(leftMs: number): Promise<unknown> | unknown;
  /** Called if `stop` takes too long, to end the work that it waits for. `stopped` settles when that has ended. */
  kill?(stopped: Promise<unknown>): Promise<void> | void;
}

// Calls in flight may use all the time until the deadline. The later steps, such as jobs and
// pools, still need time to stop.
const afterDeadlineMs = 2_000;

/** A stack of running parts, stopped in reverse order of their start under one deadline. */
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
   * Stops everything within `deadlineMs` milliseconds. A step that fails or times out is logged, and the next one
   * follows. After the deadline, each step still gets two seconds. Never rejects.
   */
  async stop(deadlineMs: number): Promise<void> {
    const deadline = Date.now() + deadlineMs;
    let leftMs = deadlineMs;
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await stopWithin(leftMs, step);
      } catch (error) {
        this.#logger.error({ err: error, step: step.name }, 'a step of the shutdown failed');
      }
      leftMs = Math.max(deadline - Date.now(), afterDeadlineMs);
    }
  }
}

async function stopWithin(ms: number, step: Step): Promise<void> {
  const stopped = Promise.resolve(step.stop(ms));
  try {
    await withTimeout(stopped, ms, `${step.name} did not stop in time`);
  } catch (error) {
    if (error instanceof TimeoutError) await step.kill?.(stopped);
    throw error;
  }
}
