import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Metrics } from '../../../shared/telemetry/metrics.ts';
import type { StateName } from './redemption.ts';

/** A state that a call gave a redemption, or the refusal of a call. */
type Outcome = StateName | ValidationRefusal;

const refusals = Object.values(ValidationRefusal).filter((value) => typeof value === 'number' && value !== 0);
const outcomes: readonly Outcome[] = ['HELD', 'USED', 'RELEASED', ...refusals];

/** Counts what this replica's calls made of redemptions. */
export class Outcomes {
  readonly #counts = new Map(outcomes.map((outcome) => [outcome, 0]));

  registerMetrics(metrics: Metrics): void {
    metrics.counter(
      'redemptions_total',
      'Redemptions by the state that a call gave them, and refusals of Redeem by their reason.',
      () => [...this.#counts].map(([outcome, value]) => ({ labels: { outcome: labelOf(outcome) }, value })),
      ['outcome'],
    );
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

const labelOf = (outcome: Outcome) =>
  (typeof outcome === 'string' ? outcome : (ValidationRefusal[outcome] ?? '')).toLowerCase();
