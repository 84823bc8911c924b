import type { LRUCache } from 'lru-cache';
import type { Database } from '../../shared/db/database.ts';
import type { Outcomes } from '../../shared/holds/outcomes.ts';
import type { unsentReader } from '../../shared/webhooks/unsent.ts';
import type { MissLimit } from './guessing/miss-limit.ts';

/** The dependencies of the coupon procedures. */
export interface CouponParts {
  readonly database: Database;
  /** The two upper-case letters that begin generated coupon codes. */
  readonly codePrefix: string;
  /** Undefined: guessing coupon codes is not limited. */
  readonly missLimit: MissLimit | undefined;
}

/** The dependencies of the redemption procedures. */
export interface RedemptionParts extends Pick<CouponParts, 'database' | 'missLimit'> {
  readonly outcomes: Outcomes;
  /** The codes, in looked-up form, of coupons with a limit of all users that this replica has met. */
  readonly limitedCodes: LRUCache<string, true>;
  /** How many digits amounts of orders and discounts are rounded to; undefined: they are not. */
  readonly currencyDigits: number | undefined;
  /** The time zone of the business, by its IANA name. */
  readonly timeZone: string;
  readonly unsent: ReturnType<typeof unsentReader>;
}

/** The dependencies of the batch procedures. */
export type BatchParts = Pick<CouponParts, 'database'>;
