import { currencyDigits, formatAmount } from '../business/money.ts';

interface GivenProps {
  /** A decimal: what the terms of the coupon give. It is not rounded. */
  readonly discount: string;
  /** What the order came to: no more can be taken off. Any amount unless told. */
  readonly most?: number;
}

/** Shows a discount as it was given, in the currency's digits, and what the terms say if that is another amount. */
export function Given({ discount, most = Number.POSITIVE_INFINITY }: GivenProps) {
  const given = formatAmount(Math.min(Number(discount), most), currencyDigits());
  const byTerms = formatAmount(discount);
  return (
    <>
      {given}
      {given !== byTerms && <span className="detail"> by its terms {byTerms}</span>}
    </>
  );
}
