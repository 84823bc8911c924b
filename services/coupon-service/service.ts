import type { Logger } from 'pino';
import type { ServiceConfig } from '../../shared/config/config.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { implement } from '../../shared/rpc/implementation.ts';
import { type RunningService, startService } from '../../shared/rpc/service.ts';
import { createCouponHandlers } from './handlers.ts';

/** Starts coupon-service on its two ports (design 1). Rejects as `startService` does. */
export function startCouponService(config: ServiceConfig, logger: Logger): Promise<RunningService> {
  return startService(config, logger, ({ database }) => [
    implement(CouponService, createCouponHandlers({ database, codePrefix: config.couponCodePrefix })),
  ]);
}
