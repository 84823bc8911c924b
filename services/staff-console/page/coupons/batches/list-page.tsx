import { Link } from 'react-aria-components/Link';
import { type CouponBatch, CouponBatchService, type ListBatchesResponse } from '#gen/coupon/v1/coupon_batch_service_pb';
import { Time } from '../../business/time.tsx';
import { fileTime } from '../../business/time-input.ts';
import type { Column } from '../../lists/column.ts';
import { List } from '../../lists/list.tsx';
import { byToken } from '../../lists/source.ts';
import { Views } from '../../lists/views.tsx';
import { useStaff } from '../../lookup/names.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { couponViews, nameOfBatch } from '../record/words.ts';

const text = words.coupons.batches;
const request = { limit: 50, withTotal: true };
const rowsOf = ({ batches }: ListBatchesResponse) => batches;

/** Lists the batches of coupons, newest first. */
export function Component() {
  const staff = useStaff();
  return (
    <Page
      title={text.title}
      actions={
        <ButtonLink href="/coupons/batches/new" emphasis="primary">
          {text.newOne}
        </ButtonLink>
      }
    >
      <Views label={words.coupons.kinds} links={couponViews} />
      <List
        source={{
          method: CouponBatchService.method.listBatches,
          request,
          rowsOf,
          next: byToken,
          totalOf: (answer) => answer?.total,
        }}
        what={text.what}
        empty={
          <>
            {text.none} <ButtonLink href="/coupons/batches/new">{text.newOne}</ButtonLink>
          </>
        }
        caption={words.coupons.newestFirst}
        columns={columnsOf(staff)}
        keyOf={({ id }) => id}
      />
    </Page>
  );
}

const columnsOf = (staff: ReadonlyMap<number, string>): readonly Column<CouponBatch>[] => [
  {
    title: text.name,
    show: (batch) => <Link href={`/coupons/batches/${batch.id}`}>{nameOfBatch(batch)}</Link>,
    text: nameOfBatch,
  },
  {
    title: text.codesTitle,
    show: ({ count }) => count.toLocaleString('en'),
    text: ({ count }) => String(count),
    className: 'number',
  },
  {
    title: words.coupons.states.ended,
    show: ({ invalidated }) => invalidated.toLocaleString('en'),
    text: ({ invalidated }) => String(invalidated),
    className: 'number',
  },
  { title: words.coupon.createdBy, text: ({ createdBy }) => staff.get(createdBy) ?? words.coupon.staff(createdBy) },
  {
    title: words.coupons.created,
    show: ({ createdAt }) => <Time at={createdAt} />,
    text: ({ createdAt }) => fileTime(createdAt),
    isTime: true,
    className: 'time',
  },
];
