import { statement } from '../../../shared/db/statement.ts';
import type { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type IdPage, lastId, readIdPage, toIdPage } from '../../../shared/rpc/paging.ts';
import { type BatchRow, batchColumns, toBatch } from '../batches/batch.ts';
import type { BatchParts } from '../parts.ts';

/** Design 13, listBatches: batches, newest first. Throws INVALID_ARGUMENT for a page token of another listing. */
export function listBatches({ database }: BatchParts): Handler<typeof CouponBatchService.method.listBatches> {
  return async (request, call) => {
    const page = readIdPage(['batches'], request);
    const { rows, nextPageToken } = toIdPage(page, await database.for(call).query(selectBatches(page)));
    return { batches: mapped(rows, toBatch), nextPageToken };
  };
}

const selectBatches = statement<BatchRow, IdPage>(
  'listBatches',
  `select ${batchColumns} from coupon_batches where id < ${lastId} order by id desc limit $rows::integer`,
);
