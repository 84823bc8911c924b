import type { ReactNode } from 'react';
import { business, foreignTimeZone } from '../business/business.ts';
import { formatTimeOfDay, useNow } from '../business/time.tsx';

/** Shows the time of the business, and names its time zone, in which the whole page is. */
export function BusinessTime(): ReactNode {
  const now = new Date(useNow(10_000));
  const foreign = foreignTimeZone(now);
  return (
    <span className={foreign === undefined ? 'business-time' : 'business-time differs'}>
      {formatTimeOfDay(now)} in {business.timeZone}
      {foreign !== undefined && `, not ${foreign} as on this computer`}
    </span>
  );
}
