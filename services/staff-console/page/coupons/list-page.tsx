import { useQuery } from '@connectrpc/connect-query';
import { type CouponBatch, CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { CouponService, type GetAllResponse, type ListedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { useNow } from '../business/time.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import { orderOf } from '../lists/column.ts';
import { useFilters } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { byToken, useRows } from '../lists/source.ts';
import { useSearch } from '../lists/use-search.ts';
import { Views } from '../lists/views.tsx';
import { UserFilter } from '../lookup/record-filters.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { BatchFolds } from './batches/batch-folds.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { couponColumns } from './record/coupon-columns.tsx';
import { endOf } from './record/terms-columns.tsx';
import { useUsageColumns } from './record/usage-columns.tsx';
import { couponViews, nameOfBatch, stateOf } from './record/words.ts';

const text = words.coupons;
const states = Object.entries(text.states);
const ends = Object.entries(text.endings);
const dayMs = 86_400_000;
// The latest ones. The page of an older one leads to its coupons.
const mostBatches = 100;
const rowsOf = ({ coupons }: GetAllResponse) => coupons;

/** Lists the coupons: latest first, or as staff sort and filter them. The latest batches stand above them, a row each. */
export function Component() {
  const search = useSearch();
  const { values, set, field } = useFilters(['state', 'ends', 'user', 'batch', 'sort']);
  const now = useNow(20_000);
  const order = orderOf({ values, set });
  const isNarrowed = values.state !== '' || values.ends !== '';
  const isWhole = isNarrowed || values.sort !== '';
  const [userId, batchId] = [readId(values.user), readId(values.batch)];
  const batches = useQuery(CouponBatchService.method.listBatches, { limit: mostBatches });
  const sought = search.search.trim();
  // Whoever looks for a code or a customer's coupons looks for those of batches, too.
  const withoutBatch = sought === '' && userId === undefined && batchId === undefined;
  const request = {
    ...(userId !== undefined && { userId }),
    ...(batchId !== undefined && { batchId }),
    ...{ withoutBatch, search: sought, withTotal: true, limit: isWhole ? 1_000 : 50 },
  };
  const source = { method: CouponService.method.getAll, request, rowsOf, next: byToken };
  const usage = useUsageColumns(useRows(source, false).pages);
  const matches = (coupon: ListedCoupon) =>
    (values.state === '' || stateOf(coupon, now, usage.usedOf(coupon)) === values.state) &&
    endsWithin(coupon, values.ends, now);
  const isFiltered = isNarrowed || !withoutBatch;
  const columns = couponColumns(now, usage);
  return (
    <Page
      title={text.title}
      actions={
        <>
          <ButtonLink href="/check">{words.check.title}</ButtonLink>
          <ButtonLink href="/coupons/new" emphasis="primary">
            {words.coupon.newOne}
          </ButtonLink>
        </>
      }
      more={moreActions}
    >
      <Views label={text.kinds} links={couponViews}>
        <TextField label={text.search} {...search.field} />
        <SelectField label={text.state} none={text.any} options={states} {...field('state')} />
        <SelectField label={words.coupon.terms.ends} none={text.anyTime} options={ends} {...field('ends')} />
        <UserFilter {...field('user')} />
        <SelectField
          label={text.batches.one}
          none={text.any}
          options={batchOptions(batches.data?.batches ?? [], batchId)}
          {...field('batch')}
        />
      </Views>
      {!isFiltered && <BatchFolds batches={batches.data?.batches ?? []} />}
      {usage.problem}
      <List
        source={{ ...source, readAlso: usage.readAlso, totalOf: (answer) => answer?.total }}
        {...(isNarrowed && { matches })}
        isWhole={isWhole}
        what={text.bulk.what}
        empty={
          isFiltered ? (
            <>
              {text.noMatch} <ButtonLink href="/coupons">{words.lists.clearFilters}</ButtonLink>
            </>
          ) : (
            <>
              {text.none} <ButtonLink href="/coupons/new">{words.coupon.newOne}</ButtonLink>
            </>
          )
        }
        caption={order.by === '' ? text.newestFirst : text.sortedBy(order.by)}
        columns={columns}
        keyOf={({ id }) => id}
        order={order}
        forSelected={(_rows, selection) => <BulkActions selection={selection} columns={columns} />}
      />
    </Page>
  );
}

const moreActions = [
  { name: words.coupon.refund.title, href: '/coupons/refund' },
  { name: words.coupon.phone.title, href: '/coupons/phone' },
  { name: text.batches.newOne, href: '/coupons/batches/new' },
  { name: text.reserved.newOne, href: '/coupons/reserved/new' },
];

/** The latest batches, and the one that is chosen, which may be older. */
function batchOptions(batches: readonly CouponBatch[], chosen: number | undefined) {
  const options = batches.map((batch) => [String(batch.id), nameOfBatch(batch)] as const);
  const isListed = chosen === undefined || batches.some(({ id }) => id === chosen);
  return isListed ? options : [...options, [String(chosen), text.batches.named(chosen)] as const];
}

function endsWithin(coupon: ListedCoupon, ends: string, now: number): boolean {
  if (ends === '') return true;
  const end = endOf(coupon);
  return ends === 'none' ? end === Number.POSITIVE_INFINITY : end >= now && end < now + Number(ends) * dayMs;
}
