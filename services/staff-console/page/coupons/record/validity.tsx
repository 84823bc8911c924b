import type { ReactNode } from 'react';
import { formatTime, Time } from '../../business/time.tsx';
import { Badge } from '../../ui/page.tsx';
import { type Discounts, describeDiscount, describeUses, type Limits, stateOf } from './words.ts';

const kinds = { Valid: 'good', Scheduled: 'plain', Expired: 'plain', Invalidated: 'bad' } as const;

interface CouponBadgeProps {
  readonly coupon: Parameters<typeof stateOf>[0];
  /** In Unix ms. */
  readonly now: number;
}

/** Shows in a word whether a coupon can be used. */
export function CouponBadge({ coupon, now }: CouponBadgeProps): ReactNode {
  const state = stateOf(coupon, now);
  return <Badge kind={kinds[state]}>{state}</Badge>;
}

/** Shows until when a coupon can be used and, if it has a start, from when on. */
export function Validity({ startsAt, validTill }: Limits): ReactNode {
  const end = validTill && <Time at={validTill} />;
  if (startsAt === undefined) return end ?? 'No end';
  return (
    <>
      From <Time at={startsAt} /> {end === undefined ? 'on' : <br />}
      {end && <>until {end}</>}
    </>
  );
}

/** Describes a discount and its limits, such as "10 % off, from 1 Dec 2026, 10:00, at most 500 uses in all". */
export function describeTerms(terms: Discounts & Limits): string {
  const [start, end] = [formatTime(terms.startsAt), formatTime(terms.validTill)];
  const [from, until] = [start && `from ${start}`, end && `until ${end}`];
  const uses = terms.maxUses ? `at most ${describeUses(terms)} ${terms.maxUses === 1 ? 'use' : 'uses'} in all` : '';
  return [describeDiscount(terms), [from, until].filter(Boolean).join(' '), uses].filter(Boolean).join(', ');
}
