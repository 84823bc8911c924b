import { useQuery } from '@connectrpc/connect-query';
import { Link } from 'react-aria-components/Link';
import { type CouponBatch, CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { Expandable } from '../../audit/expandable.tsx';
import { formatTime } from '../../business/time.tsx';
import { words } from '../../words.ts';
import { nameOfBatch } from '../record/words.ts';
import { BatchCodes } from './batch-codes.tsx';

const text = words.coupons.batches;

/** Of more batches, the latest stand above the coupons. */
const foldsMost = 3;

/** The latest batches above the list of coupons, a row each, which opens on their codes. */
export function BatchFolds({ batches }: { readonly batches: readonly CouponBatch[] }) {
  if (batches.length === 0) return null;
  return (
    <section className="card" aria-label={text.title}>
      {batches.slice(0, foldsMost).map((batch) => (
        <BatchFold key={batch.id} batch={batch} />
      ))}
      {batches.length > foldsMost && <Link href="/coupons/batches">{text.all}</Link>}
    </section>
  );
}

function BatchFold({ batch }: { readonly batch: CouponBatch }) {
  const { id, count, createdAt } = batch;
  const { data } = useQuery(CouponBatchService.method.getBatch, { id, limit: 1, withUsage: true });
  return (
    <Expandable summary={text.fold(nameOfBatch(batch), count, data?.uses, formatTime(createdAt))}>
      {() => (
        <>
          <Link href={`/coupons/batches/${id}`}>{text.open}</Link>
          <BatchCodes id={id} />
        </>
      )}
    </Expandable>
  );
}
