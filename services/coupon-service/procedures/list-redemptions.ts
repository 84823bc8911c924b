import { statement } from '../../../shared/db/statement.ts';
import { type RedemptionService, RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type IdPage, lastId, readIdPage, toIdPage } from '../../../shared/rpc/paging.ts';
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
 * Declares one statement for each set of filters, so that PostgreSQL plans each with the right index. The page is
 * merged from the newest redemptions in each state, because the indexes have the state before the id.
 */
function selectRedemptions(filters: PageParams) {
  const given = Object.entries(conditions).filter(([name]) => Reflect.get(filters, name) !== undefined);
  const isAsked = given.map(([, condition]) => `${condition} and `).join('');
  // The redemptions of an order are few, so they are read first, and then sorted.
  const table =
    filters.orderKey === undefined
      ? 'redemptions'
      : `(select * from redemptions where ${isAsked}state = asked.state offset 0)`;
  // In one state, and after the previous page. Written so, only an index that has the state before the id gives the
  // order. By the ids alone PostgreSQL would read all newer redemptions, which may have another state.
  const isPlaced = `(state, id) < (asked.state, ${lastId}) and state >= asked.state`;
  return statement<RedemptionRow, PageParams>(
    ['listRedemptions', ...given.map(([name]) => name)].join('-'),
    `with run_out as materialized (
       select * from redemptions
       where ${isAsked}id < ${lastId} and 'EXPIRED' = any($states::text[]) and ${isRunOut('redemptions')}
     ),
     found as (
       select found.* from unnest($states) as asked (state), lateral (
         select * from ${table} as redemptions
         where ${isAsked}${isPlaced} and not ${isRunOut('redemptions')}
         order by state desc, id desc limit $rows::integer
       ) as found
       union all
       select * from run_out
     )
     select ${redemptionColumns} from found as redemptions order by id desc limit $rows`,
  );
}
