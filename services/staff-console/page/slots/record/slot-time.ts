import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { formatDate, formatTimeOfDay } from '../../business/time.tsx';

interface DeliveryTime {
  readonly deliveryTime?: Timestamp | undefined;
  readonly windowMinutes?: number | undefined;
}

/** Formats when a slot is delivered, such as "Sat 28 Nov, 08:00 – 10:00"; without the day if `short`. */
export function slotTime({ deliveryTime, windowMinutes = 0 }: DeliveryTime, short = false): string {
  if (deliveryTime === undefined) return '';
  const start = timestampDate(deliveryTime);
  const from = short ? formatTimeOfDay(start) : formatDate(start);
  return windowMinutes === 0 ? from : `${from} – ${formatTimeOfDay(new Date(endOf(start.getTime(), windowMinutes)))}`;
}

const endOf = (startMs: number, windowMinutes: number) => startMs + windowMinutes * 60_000;
