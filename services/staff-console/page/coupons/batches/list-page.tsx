import { Link } from 'react-aria-components/Link';
import { type CouponBatch, CouponBatchService, type ListBatchesResponse } from '#gen/coupon/v1/coupon_batch_service_pb';
import { TextField } from '../../forms/text-field.tsx';
import { numberColumn, timeColumn } from '../../lists/column.tsx';
import { useSearch } from '../../lists/filters.ts';
import { List } from '../../lists/list.tsx';
import { Views } from '../../lists/views.tsx';
import { useStaff } from '../../lookup/names.ts';
import { Page } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { couponViews, nameOfBatch } from '../record/words.ts';

const text = words.coupons.batches;
const create = { name: text.newOne, href: '/coupons/batches/new' };
const request = { withTotal: true };
const rowsOf = ({ batches }: ListBatchesResponse) => batches;

/** Lists the batches of coupons, newest first. */
export function Component() {
  const staff = useStaff();
  const { search, field } = useSearch();
  const sought = search.toLowerCase();
  return (
    <Page title={text.title} create={create}>
      <Views label={words.coupons.kinds} links={couponViews}>
        <TextField label={text.search} {...field} />
      </Views>
      <List
        source={{ method: CouponBatchService.method.listBatches, request, rowsOf }}
        what={text.what}
        empty={text.none}
        create={create}
        matches={sought === '' ? undefined : (batch) => nameOfBatch(batch).toLowerCase().includes(sought)}
        noMatch={text.noneFound}
        caption={words.newestFirst}
        columns={[
          {
            title: words.fields.name,
            show: (batch) => <Link href={`/coupons/batches/${batch.id}`}>{nameOfBatch(batch)}</Link>,
            text: nameOfBatch,
          },
          numberColumn(words.fields.count, ({ count }: CouponBatch) => count),
          numberColumn(words.coupons.states.ended, ({ invalidated }: CouponBatch) => invalidated),
          {
            title: words.fields.createdBy,
            text: ({ createdBy }) => staff.get(createdBy) ?? words.coupon.staff(createdBy),
          },
          timeColumn(words.fields.createdAt, ({ createdAt }: CouponBatch) => createdAt),
        ]}
      />
    </Page>
  );
}
