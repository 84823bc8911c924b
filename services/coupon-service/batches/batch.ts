import { statement } from '../../../shared/db/statement.ts';
import type { CouponBatchSchema } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';

/** The record of a batch (design 13). */
export interface BatchRow {
  id: number;
  name: string;
  count: number;
  invalidated: number;
  createdBy: number;
  createdAt: Date;
}

/** SQL of the columns of `BatchRow`. */
export const batchColumns = `
  coupon_batches.id, coupon_batches.name, coupon_batches.count, coupon_batches.invalidated,
  coupon_batches.created_by as "createdBy", coupon_batches.created_at as "createdAt"`;

export const selectBatch = statement<BatchRow, { id: number }>(
  'selectBatch',
  `select ${batchColumns} from coupon_batches where id = $id`,
);

/** Converts a record to a `CouponBatch`. */
export function toBatch(row: BatchRow) {
  return { ...row, createdAt: row.createdAt.getTime() } satisfies Answer<typeof CouponBatchSchema>;
}
