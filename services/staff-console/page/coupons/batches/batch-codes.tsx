import { CouponBatchService, type GetBatchResponse } from '#gen/coupon/v1/coupon_batch_service_pb';
import type { Coupon } from '#gen/coupon/v1/coupon_service_pb';
import { useNow } from '../../business/time.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { orderOf } from '../../lists/column.ts';
import { useFilters } from '../../lists/filters.ts';
import { List } from '../../lists/list.tsx';
import { byToken, useRows } from '../../lists/source.ts';
import { useSearch } from '../../lists/use-search.ts';
import { words } from '../../words.ts';
import { codeColumn, stateColumn } from '../record/coupon-columns.tsx';
import { termsColumns } from '../record/terms-columns.tsx';
import { useUsageColumns } from '../record/usage-columns.tsx';

const text = words.coupons.batches;
const rowsOf = ({ coupons }: GetBatchResponse) => coupons;
// The terms, which all codes of a batch have from the start, are for the file.
const code = {
  ...codeColumn,
  file: [{ ...codeColumn, isCode: true }, ...termsColumns.flatMap((column) => column.file ?? [column])],
};
const totalOf = (answer: GetBatchResponse | undefined) => answer?.batch?.count;

/** Lists the codes of a batch, with what became of each: as they were made, or sorted. */
export function BatchCodes({ id }: { readonly id: number }) {
  const now = useNow(20_000);
  const { search, field } = useSearch();
  const { values, set } = useFilters(['sort']);
  const order = orderOf({ values, set });
  const sought = search.trim().toUpperCase();
  const isWhole = sought !== '' || order.by !== '';
  const request = { id, limit: isWhole ? 1_000 : 50 };
  const source = { method: CouponBatchService.method.getBatch, request, rowsOf, next: byToken, totalOf };
  const usage = useUsageColumns(useRows(source, false).pages);
  const matches = ({ couponCode }: Coupon) => couponCode.includes(sought);
  return (
    <>
      <div className="bar">
        <TextField label={words.coupons.search} {...field} />
      </div>
      {usage.problem}
      <List
        source={{ ...source, readAlso: usage.readAlso }}
        {...(sought !== '' && { matches })}
        isWhole={isWhole}
        what={text.codesOf(id)}
        empty={text.noMatch}
        caption={order.by === '' ? text.asMade : words.coupons.sortedBy(order.by)}
        columns={[code, ...usage.columns, stateColumn(now, usage.usedOf)]}
        keyOf={(coupon) => coupon.id}
        order={order}
      />
    </>
  );
}
