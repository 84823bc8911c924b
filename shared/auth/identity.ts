import type { AbortSignalLike } from '../cancellation/signal.ts';

/** Who calls, as a verified token says (spec 5, design 1). */
export interface Identity {
  readonly subject: string;
  /** The token's `staff_id`; it counts for nothing until the staff user is known to exist. */
  readonly claimedStaffId: number | undefined;
  /** The staff id, or undefined without one or when no such staff user exists. */
  staffId(openSignal: () => AbortSignalLike): number | undefined | Promise<number | undefined>;
}
