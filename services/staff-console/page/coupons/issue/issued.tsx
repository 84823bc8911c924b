import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { words } from '../../words.ts';
import { describeTerms, type Terms } from '../record/words.ts';

/** Keeps the coupon that a form has issued, and how it is taken back: the form then returns. */
export function useIssued<Coupon>(takenBack: string) {
  const [issued, setIssued] = useState<Coupon>();
  const invalidate = useWrite(CouponService.method.delete, () => ({ text: takenBack }));
  const takeBack = async (id = 0): Promise<Undone> => {
    const undone = await invalidate.send({ id });
    if (undone.failure === undefined) setIssued(undefined);
    return undone;
  };
  return { issued, setIssued, takeBack };
}

interface IssuedProps {
  /** The name of the new coupon, such as "The refund coupon". */
  readonly what: string;
  /** Without an id if it has no page. */
  readonly coupon: Terms & { readonly id?: number | undefined; readonly couponCode: string };
  /** The text of the button that starts the next one. */
  readonly another: string;
  onAnother(): void;
}

/** Shows the code of a new coupon, for staff to pass on. It replaces the form, so that they don't issue it twice. */
export function Issued({ what, coupon, another, onAnother }: IssuedProps) {
  const { id, couponCode } = coupon;
  const heading = useRef<HTMLHeadingElement>(null);
  // The keyboard continues here, because the button that was pressed is gone.
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="card" aria-label={what} role="status">
      <h2 ref={heading} tabIndex={-1}>
        {what}: <code>{couponCode}</code>
      </h2>
      <p>{describeTerms(coupon)}</p>
      <div className="actions">
        <CopyButton what={words.coupon.code} text={couponCode} name={couponCode} />
        {id !== undefined && <Link href={`/coupons/${id}`}>{words.coupon.open}</Link>}
        <Button onPress={onAnother}>{another}</Button>
      </div>
    </section>
  );
}
