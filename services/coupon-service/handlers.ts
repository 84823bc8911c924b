import type { Database } from '../../shared/db/database.ts';
import type { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handlers } from '../../shared/rpc/implementation.ts';

export interface CouponHandlerParts {
  readonly database: Database;
  /** The two letters that generated coupon codes start with. */
  readonly codePrefix: string;
}

/** The eleven coupon procedures (spec 4.2): from protobuf to plain values, to the rule, and back. */
export function createCouponHandlers(_parts: CouponHandlerParts): Handlers<typeof CouponService> {
  return {};
}
