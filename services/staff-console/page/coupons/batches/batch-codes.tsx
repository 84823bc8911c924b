import { useQuery } from '@connectrpc/connect-query';
import { Link } from 'react-aria-components/Link';
import { type CouponBatch, CouponBatchService, type GetBatchResponse } from '#gen/coupon/v1/coupon_batch_service_pb';
import type { Coupon } from '#gen/coupon/v1/coupon_service_pb';
import { Expandable } from '../../audit/expandable.tsx';
import { formatTime, useNow } from '../../business/time.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useFilters, useSearch } from '../../lists/filters.ts';
import { List } from '../../lists/list.tsx';
import { useRows } from '../../lists/source.ts';
import { words } from '../../words.ts';
import { codeColumn, stateColumn, termsColumns, useUsageColumns } from '../record/columns.tsx';
import { nameOfBatch } from '../record/words.ts';

const text = words.coupons.batches;
const rowsOf = ({ coupons }: GetBatchResponse) => coupons;
// The terms, which all codes of a batch have from the start, are for the file.
const code = {
  ...codeColumn,
  file: [{ ...codeColumn, isCode: true }, ...termsColumns.flatMap((column) => column.file ?? [column])],
};

/** Lists the codes of a batch, with what became of each: as they were made, or sorted. */
export function BatchCodes({ id }: { readonly id: number }) {
  const now = useNow(20_000);
  const { search, field } = useSearch();
  const { order } = useFilters([]);
  const sought = search.toUpperCase();
  const source = { method: CouponBatchService.method.getBatch, request: { id }, rowsOf };
  const usage = useUsageColumns(useRows(source, false).pages);
  return (
    <>
      <div className="bar">
        <TextField label={words.coupons.search} {...field} />
      </div>
      {usage.problem}
      <List
        source={{ ...source, readAlso: usage.readAlso }}
        matches={sought === '' ? undefined : ({ couponCode }: Coupon) => couponCode.includes(sought)}
        what={text.codesOf(id)}
        empty={text.noMatch}
        noMatch={text.noMatch}
        caption={text.asMade}
        columns={[code, ...usage.columns, stateColumn(now, usage.usedOf)]}
        order={order}
      />
    </>
  );
}

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
