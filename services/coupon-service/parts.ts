import type { Database } from '../../shared/db/database.ts';
import type { MissLimit } from './guessing/miss-limit.ts';

/** What the coupon procedures are built from. */
export interface CouponParts {
  readonly database: Database;
  /** The two upper-case letters that generated coupon codes start with. */
  readonly codePrefix: string;
  /** Undefined: callers may guess coupon codes without a limit. */
  readonly missLimit: MissLimit | undefined;
}
