import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import {
  type CouponBatch,
  CouponBatchService,
  type GetBatchResponse,
} from '../../../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { History } from '../../audit/history.tsx';
import { Time, useNow } from '../../business/time.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { List } from '../../lists/list.tsx';
import { byToken, useRows } from '../../lists/source.ts';
import { useSearch } from '../../lists/use-search.ts';
import { useStaff } from '../../lookup/names.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { WithRecordId } from '../../ui/record-id.tsx';
import { codeColumn, stateColumn } from '../record/coupon-columns.tsx';
import { termsColumns } from '../record/terms-columns.tsx';
import { useUsageColumns } from '../record/usage-columns.tsx';
import { nameOfBatch } from '../record/words.ts';
import { EndButton } from './end-button.tsx';

const { getBatch } = CouponBatchService.method;
const rowsOf = ({ coupons }: GetBatchResponse) => coupons;

/** Shows a batch and its coupons. */
export function Component(): ReactNode {
  return <WithRecordId>{(id) => <ReadBatch key={id} id={id} />}</WithRecordId>;
}

function ReadBatch({ id }: { readonly id: number }): ReactNode {
  const query = useQuery(getBatch, { id, limit: 1 });
  const batch = query.data?.batch;
  return (
    <Page
      title={batch === undefined ? 'Batch' : nameOfBatch(batch)}
      actions={
        batch !== undefined && (
          <>
            <ButtonLink href={`/coupons?batch=${id}`}>Filter its coupons</ButtonLink>
            <EndButton batch={batch} />
          </>
        )
      }
    >
      <Read
        query={{ ...query, data: batch }}
        what="the batch"
        elsewhere={<ButtonLink href="/coupons/batches">All batches</ButtonLink>}
      >
        {(shown) => <BatchSections batch={shown} />}
      </Read>
    </Page>
  );
}

function BatchSections({ batch }: { readonly batch: CouponBatch }): ReactNode {
  const { id, count, invalidated, createdBy, createdAt } = batch;
  const staff = useStaff();
  const now = useNow(20_000);
  const { search, field } = useSearch();
  const sought = search.trim().toUpperCase();
  const isWhole = sought !== '';
  const source = { method: getBatch, request: { id, limit: isWhole ? 1_000 : 50 }, rowsOf, next: byToken };
  const usage = useUsageColumns(useRows(source, false).pages);
  return (
    <>
      <Section title="Batch">
        <Facts
          rows={[
            ['Number', id],
            ['Codes', count.toLocaleString('en')],
            ['Invalidated', invalidated.toLocaleString('en')],
            ['Created by', staff.get(createdBy) ?? `Staff number ${createdBy}`],
            ['Created', <Time key="created" at={createdAt} />],
          ]}
        />
      </Section>
      <Section title="Coupons">
        <div className="bar">
          <TextField label="Search by code" {...field} />
        </div>
        <List
          source={{ ...source, readAlso: usage.readAlso }}
          matches={({ couponCode }) => couponCode.includes(sought)}
          isWhole={isWhole}
          what={`coupons of batch ${id}`}
          empty="No coupon matches."
          caption="As they were made"
          columns={[{ ...codeColumn, isCode: true }, ...termsColumns, ...usage.columns, stateColumn(now)]}
          keyOf={(coupon) => coupon.id}
        />
      </Section>
      <History type="coupon_batch" id={id} />
    </>
  );
}
