import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { ServiceConfig } from '../../shared/config/config.ts';
import { digitsOfCurrency } from '../../shared/config/currencies.ts';
import { commonErrors } from '../../shared/errors/errors.ts';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { Outcomes } from '../../shared/holds/outcomes.ts';
import { markStatement } from '../../shared/holds/sweep.ts';
import { implement, type Locks, type StaffRule } from '../../shared/rpc/implementation.ts';
import { startAuditService } from '../../shared/runtime/audit-service.ts';
import { type RunningService, startService } from '../../shared/runtime/start-service.ts';
import { sweepBy } from '../../shared/runtime/sweeps.ts';
import { unsentReader } from '../../shared/webhooks/unsent.ts';
import { toLookedUpForm } from './coupons/judgement.ts';
import { couponErrors } from './errors.ts';
import { MissLimit } from './guessing/miss-limit.ts';
import { createCouponBatchHandlers, createCouponHandlers, createRedemptionHandlers } from './handlers.ts';
import type { RedemptionParts } from './parts.ts';

import { redemptionKind, redemptionOutcomes } from './redemptions/redemption.ts';
import { foldUses } from './redemptions/uses.ts';

/** Starts coupon-service on its two ports (design 1). Rejects as `startService` does. */
export function startCouponService(config: ServiceConfig, logger: Logger): Promise<RunningService> {
  return startService(config, logger, async (parts) => {
    const { database, metrics, sweeps } = parts;
    const { couponCodePrefix: codePrefix, validateMissesPerMinute: misses } = config;
    const missLimit = misses === undefined ? undefined : new MissLimit(database, misses);
    const handlers = createCouponHandlers({ database, codePrefix, missLimit });
    const outcomes = new Outcomes(redemptionOutcomes);
    outcomes.registerMetrics(
      metrics,
      'redemptions_total',
      'Redemptions by the state that a call gave them, and refusals of Redeem by their reason.',
    );
    sweeps.redemptions = sweepBy(markStatement(redemptionKind));
    sweeps.unfolded_uses = sweepBy(foldUses);
    const limitedCodes = new LRUCache<string, true>({ max: 10_000 });
    const redemptions = createRedemptionHandlers({
      ...{ database, missLimit, outcomes, limitedCodes },
      currencyDigits: digitsOfCurrency(config.businessCurrency),
      timeZone: config.businessTimeZone,
      unsent: unsentReader(config, 'coupon'),
    });
    return [
      implement(CouponService, handlers, config.couponStaffOnly ? staffOnly : undefined),
      implement(RedemptionService, redemptions, openRedemptions, turnsOf(limitedCodes)),
      implement(CouponBatchService, createCouponBatchHandlers({ database }), { error: commonErrors.accessDenied }),
      await startAuditService(parts, 'coupon'),
    ];
  });
}

/**
 * The locks at which calls take turns (design 15). Many orders may want one coupon with a limit of all users. Calls that
 * come before the first one has met its code have no turn, which does no harm: the locks of the database decide.
 */
const turnsOf = (limitedCodes: RedemptionParts['limitedCodes']): Locks<typeof RedemptionService> => ({
  async redeem({ code }) {
    const lock = toLookedUpForm(code);
    return limitedCodes.has(lock) ? lock : undefined;
  },
});

// Validate needs no staff identity. The others check it among their rules (spec 5).
const staffOnly: StaffRule<typeof CouponService> = {
  error: couponErrors.unauthorized,
  except: ['validate', 'create', 'createReservedCoupon', 'generateCancellationCoupon', 'createCoupon'],
};

// Any authenticated caller may take an order's coupons.
const openRedemptions: StaffRule<typeof RedemptionService> = {
  error: commonErrors.accessDenied,
  except: ['redeem', 'check', 'confirm', 'release', 'claim'],
};
