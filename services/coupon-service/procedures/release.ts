import { type Actor, actorOf, auditEntry, differing } from '../../../shared/audit/entry.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { couponErrors } from '../errors.ts';
import type { RedemptionParts } from '../parts.ts';
import { changingFields, type RedemptionRow, redemptionColumns, toRedemption } from '../redemptions/redemption.ts';

/** Design 13, release: gives the use of a redemption back. The reason goes to the audit trail. Throws NOT_FOUND. */
export function release({ database, outcomes }: RedemptionParts): Handler<typeof RedemptionService.method.release> {
  return async ({ redemptionId: id, reason }, call) => {
    const [redemption] = await database.for(call).query(releaseRedemption({ ...actorOf(call), id, reason }));
    if (redemption === undefined) throw fail(couponErrors.redemptionNotFound);
    if (redemption.isChanged) await outcomes.countAfterWrite(call, redemption.state);
    return { redemption: toRedemption(redemption) };
  };
}

const releaseRedemption = statement<
  RedemptionRow & { isChanged: boolean },
  { id: number; reason: string | undefined } & Actor
>(
  'release',
  `with seen as materialized (select * from redemptions where id = $id for no key update),
   written as (
     update redemptions set state = 'RELEASED', released_at = statement_timestamp(), held_until = null
     from seen where redemptions.id = seen.id and seen.state <> 'RELEASED'
     returning redemptions.*
   ),
   ${auditEntry(
     'redemption',
     differing(
       `select id, json_build_object(${changingFields('seen')}, 'reason', null) as old,
          json_build_object(${changingFields('written')}, 'reason', nullif($reason::text, '')) as new
        from seen join written using (id)`,
     ),
   )}
   select ${redemptionColumns}, written.id is not null as "isChanged"
   from (select * from written union all select * from seen where state = 'RELEASED') as redemptions
     left join written using (id)`,
);
