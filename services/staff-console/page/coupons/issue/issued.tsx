import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import type { Notice, Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { words } from '../../words.ts';
import { describeTerms, type Terms } from '../record/words.ts';

/** Sends a form and keeps what was made, which stands in the form's place until it is forgotten or a coupon taken back. */
export function useMade<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  done: (answer: MessageShape<O>, takeBack: (couponId?: number) => Promise<Undone>) => Notice,
  takenBack = '',
) {
  const [made, setMade] = useState<MessageShape<O>>();
  const invalidate = useWrite(CouponService.method.delete, () => ({ text: takenBack }));
  const takeBack = async (id = 0): Promise<Undone> => {
    const undone = await invalidate.send({ id });
    if (undone.failure === undefined) setMade(undefined);
    return undone;
  };
  const write = useWrite(method, (answer) => done(answer, takeBack));
  const make = (request: MessageInitShape<I>) => void write.send(request).then(({ answer }) => setMade(answer));
  return { made, write, make, forget: () => setMade(undefined) };
}

interface IssuedProps {
  /** The name of the new coupon, such as "The refund coupon". */
  readonly what: string;
  /** Without an id if it has no page. */
  readonly coupon: Terms & { readonly id?: number | undefined; readonly couponCode: string };
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
