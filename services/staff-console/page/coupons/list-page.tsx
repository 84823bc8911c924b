import { useQuery } from '@connectrpc/connect-query';
import { CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { CouponService, type GetAllResponse, type ListedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { useNow } from '../business/time.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import { textColumn } from '../lists/column.tsx';
import { useFilters, useSearch } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { useRows } from '../lists/source.ts';
import { Views } from '../lists/views.tsx';
import { UserFilter } from '../lookup/record-filters.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { BatchFolds } from './batches/batch-codes.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { codeColumn, createdColumn, endOf, stateColumn, termsColumns, useUsageColumns } from './record/columns.tsx';
import { couponViews, describeAudience, nameOfBatch, stateOf } from './record/words.ts';

const text = words.coupons;
const states = Object.entries(text.states);
const ends = Object.entries(text.endings);
const dayMs = 86_400_000;
// The latest ones. The page of an older one leads to its coupons.
const mostBatches = 100;
const rowsOf = ({ coupons }: GetAllResponse) => coupons;
const create = { name: words.coupon.newOne, href: '/coupons/new' };
const moreActions = [
  { name: words.coupon.refund.title, href: '/coupons/refund' },
  { name: words.coupon.phone.title, href: '/coupons/phone' },
  { name: text.batches.newOne, href: '/coupons/batches/new' },
  { name: text.reserved.newOne, href: '/coupons/reserved/new' },
];

/** Lists the coupons: latest first, or as staff sort and filter them. The latest batches stand above them, a row each. */
export function Component() {
  const { search, field: searchField } = useSearch();
  const { values, order, field } = useFilters(['state', 'ends', 'user', 'batch']);
  const now = useNow(20_000);
  const isNarrowed = values.state !== '' || values.ends !== '';
  const [userId, batchId] = [readId(values.user), readId(values.batch)];
  const batches = useQuery(CouponBatchService.method.listBatches, { limit: mostBatches }).data?.batches ?? [];
  const batchOptions = new Map(batches.map((batch) => [String(batch.id), nameOfBatch(batch)]));
  // The one that is chosen may be older.
  if (batchId && !batchOptions.has(String(batchId))) batchOptions.set(String(batchId), text.batches.named(batchId));
  // Whoever looks for a code or a customer's coupons looks for those of batches, too.
  const withoutBatch = search === '' && userId === undefined && batchId === undefined;
  const request = { userId, batchId, withoutBatch, search, withTotal: true };
  const source = { method: CouponService.method.getAll, request, rowsOf };
  const usage = useUsageColumns(useRows(source, false).pages);
  const matches = (coupon: ListedCoupon) =>
    (values.state === '' || stateOf(coupon, now, usage.usedOf(coupon)) === values.state) &&
    endsWithin(coupon, values.ends, now);
  const [discount, minOrder, end] = termsColumns;
  const state = stateColumn(now, usage.usedOf);
  const columns = [codeColumn, discount, minOrder, audienceColumn, end, ...usage.columns, state, createdColumn];
  return (
    <Page
      title={text.title}
      actions={<ButtonLink href="/check">{words.check.title}</ButtonLink>}
      create={create}
      more={moreActions}
    >
      <Views label={text.kinds} links={couponViews}>
        <TextField label={text.search} {...searchField} />
        <SelectField label={words.fields.state} none={words.any} options={states} {...field('state')} />
        <SelectField label={words.fields.validTill} none={words.anyTime} options={ends} {...field('ends')} />
        <UserFilter {...field('user')} />
        <SelectField label={text.batches.one} none={words.any} options={[...batchOptions]} {...field('batch')} />
      </Views>
      {!isNarrowed && withoutBatch && (
        <BatchFolds batches={batches.filter(({ count, invalidated }) => invalidated < count)} />
      )}
      {usage.problem}
      <List
        source={{ ...source, readAlso: usage.readAlso }}
        matches={isNarrowed ? matches : undefined}
        what={text.bulk.what}
        empty={text.none}
        create={create}
        noMatch={text.noMatch}
        caption={words.newestFirst}
        columns={columns}
        order={order}
        forSelected={(_rows, selection) => <BulkActions selection={selection} columns={columns} />}
      />
    </Page>
  );
}

const audienceOf = (coupon: ListedCoupon) => {
  // A link to a customer who was deleted has no user.
  const gone = coupon.applicableUsers.filter(({ user }) => user === undefined).length;
  return describeAudience(coupon, coupon.applicableUsersCount - gone);
};
const audienceColumn = textColumn(words.fields.applicableUsers, audienceOf, { className: 'name' });

function endsWithin(coupon: ListedCoupon, ends: string, now: number): boolean {
  if (ends === '') return true;
  const end = endOf(coupon);
  return ends === 'none' ? end === Number.POSITIVE_INFINITY : end >= now && end < now + Number(ends) * dayMs;
}
