import type { CallContext } from '../rpc/call-context.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Counts this replica's calls by their outcome: the state that a record got, or the refusal. */
export class Outcomes {
  readonly #counts: Map<string, number>;

  /** @param outcomes all that there are, in upper case. */
  constructor(outcomes: readonly string[]) {
    this.#counts = new Map(outcomes.map((outcome) => [outcome, 0]));
  }

  /** Registers the metric of this name, with the label `outcome`. */
  registerMetrics(metrics: Metrics, name: string, help: string): void {
    const values = () =>
      [...this.#counts].map(([outcome, value]) => ({ labels: { outcome: outcome.toLowerCase() }, value }));
    metrics.counter(name, help, values, ['outcome']);
  }

  /** Counts a call that has written, once that is committed. */
  countWrite(call: CallContext, outcome: string): Promise<void> {
    return call.afterWrite((isCommitted) => {
      if (isCommitted) this.#count(outcome);
    });
  }

  /**
   * Marks a call as refused, so that no idempotency key stores its answer, and counts it, unless its caller gets the
   * answer of another call with its key.
   */
  countRefusal(call: CallContext, outcome: string): Promise<void> {
    call.refusal = outcome;
    return call.afterWrite(() => {
      if (!call.isReplayed) this.#count(outcome);
    });
  }

  #count(outcome: string): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }
}

/** Returns the names of an enum's values, without the one that is unspecified. */
export const namesOf = (values: Readonly<Record<string, string | number>>) =>
  Object.keys(values).filter((name) => typeof values[name] === 'number' && values[name] !== 0);
