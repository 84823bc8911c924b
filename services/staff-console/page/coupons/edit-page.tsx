import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { Navigate } from 'react-router';
import { type CouponDetail, CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { LastChange } from '../audit/history.tsx';
import { Conflict } from '../forms/conflict.tsx';
import { useGuardedEdit } from '../rpc/guarded-edit.ts';
import { useWrite } from '../rpc/write.ts';
import { ButtonLink } from '../ui/button.tsx';
import { forRecord, Page, Read } from '../ui/page.tsx';
import { words } from '../words.ts';
import { CouponForm } from './form/coupon-form.tsx';
import { changesOf, draftOf, isChange } from './record/draft.ts';
import { describeField } from './record/words.ts';

const text = words.coupon;

/** Changes a coupon. */
export const Component = forRecord(function ReadCoupon({ id }) {
  const query = useQuery(CouponService.method.getById, { id }, { refetchOnMount: 'always' });
  const coupon = query.isFetchedAfterMount ? query.data?.coupon : undefined;
  return (
    <Page title={coupon === undefined ? text.editOne : text.editTitled(coupon.couponCode)}>
      <Read
        // While it is edited, a read that fails has no say.
        query={{ ...query, data: coupon, error: coupon === undefined ? query.error : null }}
        what={text.what}
        elsewhere={<ButtonLink href="/coupons">{text.all}</ButtonLink>}
      >
        {(read) => <EditCoupon read={read} again={async () => (await query.refetch()).data?.coupon} />}
      </Read>
    </Page>
  );
});

function EditCoupon({ read, again }: { readonly read: CouponDetail; again(): Promise<CouponDetail | undefined> }) {
  const [isSaved, setIsSaved] = useState(false);
  const update = useWrite(CouponService.method.update, ({ coupon }) => ({ text: text.saved(coupon?.couponCode) }));
  const { id, couponCode } = read;
  const { draft, setDraft, start, save, contradiction } = useGuardedEdit({
    write: update,
    record: read,
    read: again,
    draftOf,
    request: (after, was) => ({ id, etag: was.etag, updates: { coupon: changesOf(draftOf(was), after) } }),
    onSaved: () => setIsSaved(true),
  });
  if (isSaved) return <Navigate to={`/coupons/${id}`} replace />;
  return (
    <CouponForm
      kind="edit"
      draft={draft}
      start={start}
      change={(part) => setDraft({ ...draft, ...part })}
      write={update}
      onSend={() => (isChange(changesOf(start, draft)) ? save() : setIsSaved(true))}
      back={`/coupons/${id}`}
    >
      {contradiction !== undefined && (
        <Conflict
          record={text.titled(couponCode)}
          by={<LastChange type="coupon" id={id} />}
          contradiction={contradiction}
          describe={describeField}
        />
      )}
    </CouponForm>
  );
}
