import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useState } from 'react';
import { Navigate, useSearchParams } from 'react-router';
import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { Page, Read } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { CouponForm } from './form/coupon-form.tsx';
import { useMade } from './issue/issued.tsx';
import { blankDraft, type CouponDraft, changesOf, draftOf, newDraft } from './record/draft.ts';

const text = words.coupon;

/** Creates a coupon, either blank or with the terms of the one whose id is in the URL. */
export function Component() {
  const [params] = useSearchParams();
  const id = readId(params.get('like'));
  const query = useQuery(CouponService.method.getById, id === undefined ? skipToken : { id });
  const copied = query.data?.coupon;
  const first = id === undefined ? newDraft : copied && { ...draftOf(copied), couponCode: '' };
  return (
    <Page title={copied === undefined ? text.newOne : text.newLike(copied.couponCode)}>
      <Read query={{ ...query, data: first }} what={text.what}>
        {(draft) => <NewCoupon key={id} first={draft} />}
      </Read>
    </Page>
  );
}

function NewCoupon({ first }: { readonly first: CouponDraft }) {
  const [start] = useState(first);
  const [draft, setDraft] = useState(first);
  const { made, write, make } = useMade(CouponService.method.create, ({ coupon }) => ({
    text: text.created(coupon?.couponCode),
  }));
  if (made?.coupon !== undefined) return <Navigate to={`/coupons/${made.coupon.id}`} replace />;
  return (
    <CouponForm
      kind="new"
      draft={draft}
      start={start}
      change={(part) => setDraft({ ...draft, ...part })}
      action={text.form.create}
      write={write}
      onSend={() => make({ coupon: changesOf(blankDraft, draft) })}
      back="/coupons"
    />
  );
}
