import { type ReactNode, useState } from 'react';
import { Navigate } from 'react-router';
import { CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { useWrite } from '../rpc/write.ts';
import { Page } from '../ui/page.tsx';
import { CouponForm } from './coupon-form.tsx';
import { blankDraft, changesOf } from './record/draft.ts';

/** Creates a coupon. */
export function Component(): ReactNode {
  const [draft, setDraft] = useState(blankDraft);
  const [createdId, setCreatedId] = useState<number>();
  const create = useWrite(CouponService.method.create, ({ coupon }) => ({
    text: `Coupon ${coupon?.couponCode} created`,
  }));
  const save = async () => {
    const { answer } = await create.send({ coupon: changesOf(blankDraft, draft) });
    setCreatedId(answer?.coupon?.id);
  };
  if (createdId !== undefined) return <Navigate to={`/coupons/${createdId}`} replace />;
  return (
    <Page title="New coupon">
      <CouponForm
        draft={draft}
        onChange={setDraft}
        start={blankDraft}
        isNew
        write={create}
        onSave={() => void save()}
        back="/coupons"
      />
    </Page>
  );
}
