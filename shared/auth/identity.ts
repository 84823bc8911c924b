import type { Caller } from '../db/caller.ts';

/** The caller that a verified token names (spec 5, design 1). */
export interface Identity {
  readonly subject: string;
  /** The token's `staff_id`. It is only a claim: `staffId` checks that the staff user exists. */
  readonly claimedStaffId: number | undefined;
  /** Resolves with the staff id, or undefined if the token has none or the staff user does not exist or is disabled. */
  staffId(caller: Caller): Promise<number | undefined>;
}
