import { CouponBatchService, type GetBatchResponse } from '#gen/coupon/v1/coupon_batch_service_pb';
import type { Coupon } from '#gen/coupon/v1/coupon_service_pb';
import { useNow } from '../../business/time.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useFilters, useSearch } from '../../lists/filters.ts';
import { List } from '../../lists/list.tsx';
import { useRows } from '../../lists/source.ts';
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

/** Lists the codes of a batch, with what became of each: as they were made, or sorted. */
export function BatchCodes({ id }: { readonly id: number }) {
  const now = useNow(20_000);
  const { search, field } = useSearch();
  const { order } = useFilters([]);
  const sought = search.toUpperCase();
  const source = { method: CouponBatchService.method.getBatch, request: { id }, rowsOf };
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
        matches={sought === '' ? undefined : matches}
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
