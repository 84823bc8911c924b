import type { PageConfig } from '../../page-config.ts';

/** The business's time zone, in which all times are shown and entered, and its currency (design 12). */
export type Business = Pick<PageConfig, 'timeZone' | 'currency'>;

/** The business of this page. */
export let business: Business = { timeZone: 'UTC', currency: undefined };

/** Sets the business of this page, before anything is shown. */
export function setBusiness(configured: Business): void {
  business = configured;
}

/** This computer's own time zone, if its times differ from the business's in the course of a year. */
export function foreignTimeZone(now: Date): string | undefined {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const [here, there] = [timeZone, business.timeZone].map(
    (zone) => new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', timeStyle: 'long', timeZone: zone }),
  );
  const isOther = [0, 90, 180, 270].some((days) => {
    const date = new Date(now.getTime() + days * 86_400_000);
    return here?.format(date).slice(0, 20) !== there?.format(date).slice(0, 20);
  });
  return isOther ? timeZone : undefined;
}
