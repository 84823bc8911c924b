import { createClient } from '@connectrpc/connect';
import { expect } from 'vitest';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import type { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
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
