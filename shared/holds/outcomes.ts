import type { CallContext } from '../rpc/call-context.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Counts what this replica's calls made of records: the state that each gave one, or the refusal of a call. */
export class Outcomes<Outcome extends string> {
  readonly #counts: Map<Outcome, number>;

  constructor(outcomes: readonly Outcome[]) {
    this.#counts = new Map(outcomes.map((outcome) => [outcome, 0]));
  }

  registerMetrics(metrics: Metrics, name: string, help: string): void {
    const values = () =>
      [...this.#counts].map(([outcome, value]) => ({ labels: { outcome: outcome.toLowerCase() }, value }));
    metrics.counter(name, help, values, ['outcome']);
  }

  count(outcome: Outcome): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  /** Counts once the call's write is committed. */
  countAfterWrite(call: CallContext, outcome: Outcome): Promise<void> {
    return call.afterWrite((isCommitted) => {
      if (isCommitted) this.count(outcome);
    });
  }
}

/** The names of an enum's values, without the one that is unspecified. */
export const namesOf = (values: Readonly<Record<string, string | number>>) =>
  Object.keys(values).filter((name) => typeof values[name] === 'number' && values[name] !== 0);
