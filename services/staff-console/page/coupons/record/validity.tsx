import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { ReactNode } from 'react';
import { Time } from '../../business/time.tsx';
import { Badge } from '../../ui/page.tsx';
import { stateOf } from './words.ts';

const kinds = { Valid: 'good', Expired: 'plain', Invalidated: 'bad' } as const;

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

/** Shows until when a coupon can be used. */
export function ValidUntil({ at }: { readonly at: Timestamp | undefined }): ReactNode {
  return at === undefined ? 'No end' : <Time at={at} />;
}
