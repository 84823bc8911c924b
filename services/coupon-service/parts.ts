import type { Database } from '../../shared/db/database.ts';

/** What the coupon procedures are built from. */
export interface CouponParts {
  readonly database: Database;
  /** The two upper-case letters that generated coupon codes start with. */
  readonly codePrefix: string;
}
