import type { Database } from '../../shared/db/database.ts';
import type { MissLimit } from './guessing/miss-limit.ts';

/** The dependencies of the coupon procedures. */
export interface CouponParts {
  readonly database: Database;
  /** The two upper-case letters that begin generated coupon codes. */
  readonly codePrefix: string;
  /** Undefined: guessing coupon codes is not limited. */
  readonly missLimit: MissLimit | undefined;
}
