import { business, foreignTimeZone } from '../business/business.ts';
import { formatTimeOfDay, useNow } from '../business/time.tsx';
import { words } from '../words.ts';

/** Shows the time of the business, in which the whole page is, and says so where the computer has another time. */
export function BusinessTime() {
  const now = new Date(useNow(10_000));
  const foreign = foreignTimeZone(now);
  return (
    <div className="clock">
      <p>
        {formatTimeOfDay(now)} {placeOf(business.timeZone)}
      </p>
      {foreign !== undefined && <p>{words.frame.otherZone(placeOf(foreign))}</p>}
    </div>
  );
}

/** The place that a time zone is named after, such as "New York". */
const placeOf = (zone: string) => zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');
