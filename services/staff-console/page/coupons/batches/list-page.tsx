import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  type CouponBatch,
  CouponBatchService,
  type ListBatchesResponse,
} from '../../../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { Time } from '../../business/time.tsx';
import { fileTime } from '../../business/time-input.ts';
import type { Column } from '../../lists/column.ts';
import { List } from '../../lists/list.tsx';
import { byToken } from '../../lists/source.ts';
import { Views } from '../../lists/views.tsx';
import { useStaff } from '../../lookup/names.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { couponViews, nameOfBatch } from '../record/words.ts';
import '../record/coupons.css';

const request = { limit: 50 };
const rowsOf = ({ batches }: ListBatchesResponse) => batches;

/** Lists the batches of coupons, newest first. */
export function Component(): ReactNode {
  const staff = useStaff();
  return (
    <Page
      title="Many codes"
      actions={
        <ButtonLink href="/coupons/batches/new" emphasis="primary">
          New batch
        </ButtonLink>
      }
    >
      <Views label="Kinds of coupons" links={couponViews} />
      <List
        source={{ method: CouponBatchService.method.listBatches, request, rowsOf, next: byToken }}
        what="batches"
        empty="No batches yet. A batch is many coupons with codes of their own."
        caption="Newest first"
        columns={columnsOf(staff)}
        keyOf={({ id }) => id}
      />
    </Page>
  );
}

const columnsOf = (staff: ReadonlyMap<number, string>): readonly Column<CouponBatch>[] => [
  {
    title: 'Name',
    show: (batch) => <Link href={`/coupons/batches/${batch.id}`}>{nameOfBatch(batch)}</Link>,
    text: nameOfBatch,
  },
  {
    title: 'Codes',
    show: ({ count }) => count.toLocaleString('en'),
    text: ({ count }) => String(count),
    className: 'number',
  },
  {
    title: 'Invalidated',
    show: ({ invalidated }) => invalidated.toLocaleString('en'),
    text: ({ invalidated }) => String(invalidated),
    className: 'number',
  },
  { title: 'Created by', text: ({ createdBy }) => staff.get(createdBy) ?? `Staff number ${createdBy}` },
  {
    title: 'Created',
    show: ({ createdAt }) => <Time at={createdAt} />,
    text: ({ createdAt }) => fileTime(createdAt),
    isTime: true,
    className: 'time',
  },
];
