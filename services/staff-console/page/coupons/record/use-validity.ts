import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { words } from '../../words.ts';

const text = words.coupon;

/** Invalidates a coupon or makes it active again, which can be undone. The result is the same whoever is first. */
export function useValidity(id: number, code: string) {
  const name = text.titled(code);
  const invalidate = (): Promise<Undone> => end.send({ id });
  const restore = (): Promise<Undone> => begin.send({ id, updates: { isInvalidated: false } });
  const end = useWrite(CouponService.method.delete, () => ({ text: text.invalidated(code), undo: restore }), name);
  const begin = useWrite(CouponService.method.update, () => ({ text: text.restored(code), undo: invalidate }), name);
  return { invalidate, restore, isPending: end.isPending || begin.isPending };
}
