import type { ReactNode } from 'react';
import { CouponService } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';

interface ValidityButtonProps {
  readonly coupon: { readonly id: number; readonly couponCode: string; readonly isInvalidated: boolean };
}

/**
 * Invalidates a coupon or makes it valid again, at one press, which can be undone. It needs no guard, because the
 * result is the same whoever presses first.
 */
export function ValidityButton({ coupon: { id, couponCode, isInvalidated } }: ValidityButtonProps): ReactNode {
  const name = `Coupon ${couponCode}`;
  const makeInvalid = (): Promise<Undone> => invalidate.send({ id });
  const makeValid = (): Promise<Undone> => restore.send({ id, updates: { isInvalidated: false } });
  const invalidate = useWrite(
    CouponService.method.delete,
    () => ({
      text: `Coupon ${couponCode} invalidated`,
      undo: makeValid,
    }),
    name,
  );
  const restore = useWrite(
    CouponService.method.update,
    () => ({
      text: `Coupon ${couponCode} is valid again`,
      undo: makeInvalid,
    }),
    name,
  );
  return isInvalidated ? (
    <Button isPending={restore.isPending} onPress={() => void makeValid()}>
      {restore.isPending ? 'Saving…' : 'Make valid again'}
    </Button>
  ) : (
    <Button emphasis="danger" isPending={invalidate.isPending} onPress={() => void makeInvalid()}>
      {invalidate.isPending ? 'Saving…' : 'Invalidate'}
    </Button>
  );
}
