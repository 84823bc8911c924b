import { statement } from '../../../shared/db/statement.ts';
import { type RedemptionService, RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import { afterId, type IdPage, readIdPage, toIdPage } from '../../../shared/rpc/id-page.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { RedemptionParts } from '../parts.ts';
import {
  isRunOut,
  type RedemptionRow,
  redemptionColumns,
  type StateName,
  toRedemption,
} from '../redemptions/redemption.ts';

/** Design 13, listRedemptions: redemptions, newest first. Throws INVALID_ARGUMENT for a page token of other filters. */
export function listRedemptions({
  database,
}: Pick<RedemptionParts, 'database'>): Handler<typeof RedemptionService.method.listRedemptions> {
  return async (request, call) => {
    const { couponId, userId, orderKey } = request;
    const asked = request.states.map((state) => RedemptionState[state]);
    const states = allStates.filter((state) => asked.length === 0 || asked.includes(state));
    const filters = { couponId, userId, orderKey, states };
    const page = readIdPage(['redemptions', JSON.stringify(filters)], request);
    const params = { ...filters, ...page };
    const { rows, nextPageToken } = toIdPage(page, await database.for(call).query(selectRedemptions(params)(params)));
    return { redemptions: mapped(rows, toRedemption), nextPageToken };
  };
}

const allStates: readonly StateName[] = ['HELD', 'USED', 'RELEASED', 'EXPIRED'];

interface PageParams extends IdPage {
  readonly couponId: number | undefined;
  readonly userId: number | undefined;
  readonly orderKey: string | undefined;
  readonly states: readonly StateName[];
}

const conditions = {
  couponId: 'coupon_id = $couponId',
  userId: 'user_id = $userId',
  orderKey: 'order_key = $orderKey',
} as const;

/**
 * Declares one statement for each set of filters, so that PostgreSQL plans each with the right index. The page is merged
 * from the newest redemptions in each state, because the indexes have the state before the id.
 */
function selectRedemptions(filters: PageParams) {
  const given = Object.entries(conditions).filter(([name]) => Reflect.get(filters, name) !== undefined);
  const where = [...given.map(([, condition]) => condition), afterId('desc')].join(' and ');
  // The redemptions of an order are few. Sorting them is faster than looking for them in the order of their ids.
  const table = filters.orderKey === undefined ? 'redemptions' : `(select * from redemptions where ${where} offset 0)`;
  return statement<RedemptionRow, PageParams>(
    ['listRedemptions', ...given.map(([name]) => name)].join('-'),
    `with run_out as materialized (
       select * from redemptions where 'EXPIRED' = any((select $states::text[])::text[]) and ${isRunOut('redemptions')}
     ),
     found as (
       select found.* from unnest($states) as asked (state), lateral (
         select * from ${table} as redemptions
         where redemptions.state = asked.state and not ${isRunOut('redemptions')} and ${where}
         order by id desc limit $rows::integer
       ) as found
       union all
       select * from run_out where ${where}
     )
     select ${redemptionColumns} from found as redemptions order by id desc limit $rows`,
  );
}
