import { useQuery } from '@connectrpc/connect-query';
import { type ReactNode, useState } from 'react';
import { Navigate } from 'react-router';
import { type CouponDetail, CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { LastChange } from '../audit/history.tsx';
import { Conflict } from '../forms/conflict.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { useGuardedEdit } from '../rpc/guarded-edit.ts';
import { useWrite } from '../rpc/write.ts';
import { Loading, Page, Problem } from '../ui/page.tsx';
import { WithRecordId } from '../ui/record-id.tsx';
import { CouponForm } from './coupon-form.tsx';
import { changesOf, draftOf, isChange } from './record/draft.ts';
import { describeDraft } from './record/words.ts';

/** Changes a coupon. */
export function Component(): ReactNode {
  return <WithRecordId>{(id) => <ReadCoupon key={id} id={id} />}</WithRecordId>;
}

/** Reads the coupon again, because an edit must begin with the stored coupon, not with a cached one. */
function ReadCoupon({ id }: { readonly id: number }): ReactNode {
  const { data, error, refetch, isFetchedAfterMount } = useQuery(
    CouponService.method.getById,
    { id },
    { refetchOnMount: 'always' },
  );
  const coupon = isFetchedAfterMount ? data?.coupon : undefined;
  if (coupon !== undefined) {
    return <EditCoupon read={coupon} readAgain={async () => (await refetch()).data?.coupon} />;
  }
  return (
    <Page title="Edit a coupon">
      {error === null ? (
        <Loading what="the coupon" />
      ) : (
        <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

interface EditCouponProps {
  readonly read: CouponDetail;
  readAgain(): Promise<CouponDetail | undefined>;
}

function EditCoupon({ read, readAgain }: EditCouponProps): ReactNode {
  const [draft, setDraft] = useState(() => draftOf(read));
  const [isSaved, setIsSaved] = useState(false);
  const update = useWrite(CouponService.method.update, ({ coupon }) => ({
    text: `Coupon ${coupon?.couponCode} saved`,
  }));
  const { base, save, theirs, rebase } = useGuardedEdit(update, read, readAgain);
  const { id, couponCode } = base;
  const start = draftOf(theirs ?? base);
  const send = async () => {
    const coupon = changesOf(start, draft);
    if (!isChange(coupon)) return setIsSaved(true);
    const { answer } = await save(({ etag }) => ({ id, etag, updates: { coupon } }));
    setIsSaved(answer !== undefined);
  };
  if (isSaved) return <Navigate to={`/coupons/${id}`} replace />;
  return (
    <Page title={`Edit coupon ${couponCode}`}>
      <CouponForm
        draft={draft}
        onChange={setDraft}
        start={start}
        isNew={false}
        write={update}
        onSave={() => void send()}
        back={`/coupons/${id}`}
      />
      {theirs !== undefined && (
        <Conflict
          record={`coupon ${couponCode}`}
          by={
            <>
              <LastChange type="coupon" id={id} />
              {theirs.isInvalidated && !base.isInvalidated && ' It was invalidated, and stays so.'}
            </>
          }
          rows={versions(describeDraft(draft), describeDraft(start))}
          isPending={update.isPending}
          onKeepMine={() => void send()}
          onTakeTheirs={() => {
            setDraft(start);
            rebase();
          }}
          onClose={rebase}
        />
      )}
    </Page>
  );
}

type InWords = Readonly<Record<string, string>>;

const versions = (mine: InWords, theirs: InWords) =>
  Object.keys(mine).map((name) => ({ name, mine: mine[name] ?? '', theirs: theirs[name] ?? '' }));
