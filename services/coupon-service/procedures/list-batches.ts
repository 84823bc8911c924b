import { statement } from '../../../shared/db/statement.ts';
import type { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type IdPage, lastId, readIdPage, toIdPage } from '../../../shared/rpc/paging.ts';
import { countFound, totalOf } from '../../../shared/searching/searching.ts';
import { type BatchRow, batchColumns, toBatch } from '../batches/batch.ts';
import type { BatchParts } from '../parts.ts';

/** Design 13, listBatches: batches, newest first. Throws INVALID_ARGUMENT for a page token of another listing. */
export function listBatches({ database }: BatchParts): Handler<typeof CouponBatchService.method.listBatches> {
  return async (request, call) => {
    const page = readIdPage(['batches'], request);
    const db = database.for(call);
    const [found, total] = await Promise.all([
      db.query(selectBatches(page)),
      request.withTotal ? countFound(db, countBatches()) : undefined,
    ]);
    const { rows, nextPageToken } = toIdPage(page, found);
    return { batches: mapped(rows, toBatch), nextPageToken, total };
  };
}

const selectBatches = statement<BatchRow, IdPage>(
  'listBatches',
  `select ${batchColumns} from coupon_batches where id < ${lastId} order by id desc limit $rows::integer`,
);

const countBatches = statement<{ total: number }>('countBatches', totalOf('select from coupon_batches'));
