import { createClient } from '@connectrpc/connect';
import { expect } from 'vitest';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { type RedemptionService, RedemptionState } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import type { Api } from './contract.ts';
import { newName } from './mutations.ts';

type RedemptionApi = Api<typeof RedemptionService>;

/** The columns of a coupon that tests give; the others have the values of a coupon of 10 % for all. */
export interface CouponColumns {
  readonly discount_percent?: number | null;
  readonly flat_discount?: number;
  readonly max_value?: number;
  readonly min_order?: number;
  readonly is_apply_for_all?: boolean;
  readonly is_user_based?: boolean;
  readonly product_ids?: readonly number[];
  readonly max_limit_for_user?: number;
  readonly max_uses?: number;
  readonly starts_at?: string;
  readonly exclusive_apply?: boolean;
  readonly valid_till?: string;
  readonly is_invalidated?: boolean;
}

/** Adds a coupon. Resolves with its id and code. */
export async function addCouponOf(sql: RedemptionApi['sql'], given: CouponColumns = {}) {
  const code = newName('REDEEMED');
  const columns = { discount_percent: 10, is_apply_for_all: true, coupon_code: code, created_by: 1, ...given };
  const names = Object.keys(columns);
  const [row] = await sql<{ id: number }>(
    `insert into coupons (${names.join()}) values (${names.map((_name, at) => `$${at + 1}`).join()}) returning id`,
    Object.values(columns),
  );
  if (row === undefined) throw new Error('no coupon was added');
  return { id: row.id, code };
}

/** Lets the hold of a redemption run out. */
export const letRunOut = (sql: RedemptionApi['sql'], id: number | undefined) =>
  sql(`update redemptions set held_until = statement_timestamp() - interval '1 second' where id = $1`, [id]);

/** An order that no other test has, of user 1. */
export const newOrder = () => ({ userId: 1, orderKey: newName('order'), orderAmount: 200 });

/** The changes of one redemption in the trail, oldest first. */
export async function entriesOf(
  api: Pick<RedemptionApi, 'transportAs'>,
  resourceType: string,
  resourceId: number | undefined,
) {
  const audit = createClient(AuditService, api.transportAs('staff'));
  const { entries } = await audit.listEntries({ resourceType, resourceId });
  expect(entries.every((entry) => entry.resourceType === resourceType)).toBe(true);
  return entries.map(({ procedure, before, after }) => ({ procedure, before, after })).toReversed();
}

const { HELD, USED, RELEASED, EXPIRED } = RedemptionState;

const sixtyStates: readonly (readonly [RedemptionState, string])[] = [
  [HELD, 'HELD'],
  [EXPIRED, 'HELD'],
  [EXPIRED, 'EXPIRED'],
  [USED, 'USED'],
  [RELEASED, 'RELEASED'],
];

/**
 * Sixty redemptions, newest first, of the coupons 1 and 2, the users 1 and 2 and twenty orders. In turns: a hold, one that
 * has run out and one that is marked so, a used and a released one.
 */
export const sixty = Array.from({ length: 60 }, (_redemption, index) => {
  const id = 60 - index;
  const [state, stored] = sixtyStates[id % 5] ?? [HELD, 'HELD'];
  return {
    id,
    couponId: 1 + (id % 2),
    userId: 1 + ((id % 3) % 2),
    orderKey: `order-${Math.ceil(id / 3)}`,
    state,
    stored,
  };
});

/** Stores the sixty: each order's amount is its id, and its discount a quarter of that. */
export const addSixty = (sql: RedemptionApi['sql']) =>
  sql(
    `insert into redemptions (
       id, coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at, used_at, released_at
     )
     select id, "couponId", "userId", "orderKey", id, id * 0.25, stored,
       case id % 5 when 0 then now() + interval '1 hour' when 1 then now() - interval '1 minute' when 2 then now() end,
       now(), case when id % 5 in (3, 4) then now() end, case when id % 5 = 4 then now() end
     from json_to_recordset($1) as given (id integer, "couponId" integer, "userId" integer, "orderKey" text, stored text)`,
    [JSON.stringify(sixty)],
  );
