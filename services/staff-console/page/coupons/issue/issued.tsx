import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import '../record/coupons.css';

interface IssuedProps {
  /** What has been made, such as "The refund coupon". */
  readonly what: string;
  readonly code: string;
  /** The coupon's page. */
  readonly href?: string;
  /** What the coupon is good for. */
  readonly children: ReactNode;
  /** What makes the next one. */
  readonly another: string;
  onAnother(): void;
}

/** Shows the code of a coupon that was just made, to be passed on. It takes the place of the form, so that nothing is made twice. */
export function Issued({ what, code, href, children, another, onAnother }: IssuedProps): ReactNode {
  return (
    <section className="card" aria-label={what} role="status">
      <p>
        {what} is <strong className="coupon-code">{code}</strong>
      </p>
      {children}
      <div className="actions">
        <CopyButton text={code} name={code} />
        {href !== undefined && <Link href={href}>Open the coupon</Link>}
        <Button onPress={onAnother}>{another}</Button>
      </div>
    </section>
  );
}
