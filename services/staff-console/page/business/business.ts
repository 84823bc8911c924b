import { fromAbsolute, getLocalTimeZone } from '@internationalized/date';
import type { PageConfig } from '../../page-config.ts';

/** The business's time zone, in which all times are shown and entered, and its currency (design 12). */
export type Business = Pick<PageConfig, 'timeZone' | 'currency'>;

export let business: Business = { timeZone: 'UTC', currency: undefined };

/** Sets the business of this page, before anything is shown. */
export function setBusiness(configured: Business): void {
  business = configured;
}

/** This computer's own time zone, if its times differ from the business's in the course of a year. */
export function foreignTimeZone(now: Date): string | undefined {
  const quarters = [0, 90, 180, 270].map((days) => now.getTime() + days * 86_400_000);
  const offsetsIn = (zone: string) => quarters.map((ms) => fromAbsolute(ms, zone).offset).join();
  const local = getLocalTimeZone();
  return offsetsIn(local) === offsetsIn(business.timeZone) ? undefined : local;
}
