import { useQuery } from '@connectrpc/connect-query';
import { type ReactNode, useState } from 'react';
import { Navigate } from 'react-router';
import { type CouponDetail, CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { Unsaved } from '../layout/unsaved.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { useGuardedEdit } from '../rpc/guarded-edit.ts';
import { useWrite } from '../rpc/write.ts';
import { Conflict } from '../ui/conflict.tsx';
import { Loading, Page, Problem } from '../ui/page.tsx';
import { CouponForm } from './coupon-form.tsx';
import { changesOf, draftOf, isChange } from './draft.ts';
import { WithRecordId } from './record-id.tsx';
import { describeDraft } from './words.ts';

/** Changes a coupon. */
export function Component(): ReactNode {
  return <WithRecordId>{(id) => <ReadCoupon key={id} id={id} />}</WithRecordId>;
}

/** Reads the coupon anew: an edit begins with what is stored, not with what was read some time ago. */
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
  const [began, setBegan] = useState(read);
  const [draft, setDraft] = useState(() => draftOf(read));
  const [isSaved, setSaved] = useState(false);
  const update = useWrite(CouponService.method.update, ({ coupon }) => ({
    text: `Coupon ${coupon?.couponCode} saved`,
  }));
  const edit = useGuardedEdit(update, began, readAgain);
  const { theirs } = edit;
  const stored = draftOf(theirs ?? began);
  const coupon = changesOf(stored, draft);
  const page = `/coupons/${began.id}`;
  const save = async () => {
    if (!isChange(coupon)) return setSaved(true);
    const { answer } = await edit.save((etag) => ({ id: began.id, etag, updates: { coupon } }));
    setSaved(answer !== undefined);
  };
  /** Goes on from what somebody else has saved, which staff have seen now. */
  const rebase = () => {
    if (theirs !== undefined) setBegan(theirs);
    edit.rebase();
  };
  if (isSaved) return <Navigate to={page} replace />;
  return (
    <Page title={`Edit coupon ${began.couponCode}`}>
      <Unsaved when={isChange(coupon)} />
      <CouponForm
        draft={draft}
        onChange={setDraft}
        stored={stored}
        failure={theirs === undefined ? update.failure : undefined}
        isPending={update.isPending}
        onSave={() => void save()}
        back={page}
      />
      {theirs !== undefined && (
        <Conflict
          record={`coupon ${began.couponCode}`}
          by={theirs.isInvalidated && !began.isInvalidated && 'It was invalidated meanwhile, and stays so.'}
          rows={versions(describeDraft(draft), describeDraft(stored))}
          isPending={update.isPending}
          onKeepMine={() => void save()}
          onTakeTheirs={() => {
            setDraft(draftOf(theirs));
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
