import { actorOf } from '../../../shared/audit/entry.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { releaseStatement } from '../../../shared/holds/release.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { couponErrors } from '../errors.ts';
import type { RedemptionParts } from '../parts.ts';
import { type RedemptionRow, redemptionKind, toRedemption } from '../redemptions/redemption.ts';

/** Design 13, release: gives the use of a redemption back. The reason goes to the audit trail. Throws NOT_FOUND. */
export function release({ database, outcomes }: RedemptionParts): Handler<typeof RedemptionService.method.release> {
  return async ({ redemptionId: id, reason }, call) => {
    const [redemption] = await database.for(call).query(releaseRedemption({ ...actorOf(call), id, reason }));
    if (redemption === undefined) throw fail(couponErrors.redemptionNotFound);
    if (redemption.isChanged) await outcomes.countWrite(call, redemption.state);
    return { redemption: toRedemption(redemption) };
  };
}

const releaseRedemption = releaseStatement<RedemptionRow>(redemptionKind);
