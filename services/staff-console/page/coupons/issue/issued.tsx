import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'react-aria-components/Link';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { words } from '../../words.ts';

interface IssuedProps {
  /** The name of the new coupon, such as "The refund coupon". */
  readonly what: string;
  readonly code: string;
  /** The path of the coupon's page. */
  readonly href?: string;
  /** The description of the coupon's terms. */
  readonly children: ReactNode;
  /** The text of the button that starts the next one. */
  readonly another: string;
  onAnother(): void;
}

/** Shows the code of a new coupon, for staff to pass on. It replaces the form, so that they don't issue it twice. */
export function Issued({ what, code, href, children, another, onAnother }: IssuedProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The keyboard continues here, because the button that was pressed is gone.
  useEffect(() => {
    heading.current?.focus();
  }, []);
  return (
    <section className="card" aria-label={what} role="status">
      <h2 ref={heading} tabIndex={-1}>
        {what}: <code>{code}</code>
      </h2>
      {children}
      <div className="actions">
        <CopyButton what={words.coupon.code} text={code} name={code} />
        {href !== undefined && <Link href={href}>{words.coupon.open}</Link>}
        <Button onPress={onAnother}>{another}</Button>
      </div>
    </section>
  );
}
