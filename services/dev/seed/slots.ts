import { hoursFrom, pick, spread, steps } from './deterministic.ts';
import { productGroups, products } from './products.ts';

// Morning, noon, evening and night in India, in hours of UTC.
const deliveryHours = [2.5, 6.5, 11.5, 14.5];
const perDay = [3, 2, 4, 3, 2, 4, 3, 3];
const firstDay = -3;
const firstOrderOfSequences = 120;

/** Returns delivery slots from three days ago to four days ahead. */
export function makeSlots(now: Date) {
  const midnight = new Date(now);
  midnight.setUTCHours(0, 0, 0, 0);
  const times = perDay.flatMap((count, day) =>
    deliveryHours.slice(0, count).map((hour) => (firstDay + day) * 24 + hour),
  );
  return times.map((hour, index) => {
    const delivery = hoursFrom(midnight, hour);
    const isPast = Date.parse(delivery) < now.getTime();
    return {
      id: index + 1,
      delivery_time: delivery,
      freeze_time: hoursFrom(midnight, hour - pick([4, 6, 8], index)),
      // Slots of the last 24 hours are still active.
      is_active: !isPast || hour > -24,
      is_capacity_full: index % 6 === 4,
      group_ids: spread(index, 2 + (index % 4), productGroups.length),
      delivery_sequence: index % 4 === 1 ? sequenceOf(index) : {},
    };
  });
}

/** Returns the products that can be ordered for each slot. */
export function makeProductSlots(slotCount: number) {
  return steps(slotCount).flatMap((slot) =>
    spread(slot, 15 + ((slot * 7) % 26), products.length).map((product) => ({
      slot_id: slot + 1,
      product_id: product,
    })),
  );
}

/** Returns vendor snippets: the lists of products that vendors bring for a slot. */
export function makeSnippets(now: Date, slotCount: number) {
  const vendors = ['sahyadri-farms', 'gokul-dairy', 'deccan-grains', 'konkan-fruits'];
  return steps(12).map((index) => ({
    id: index + 1,
    snippet_code: `${pick(vendors, index)}-${String(index + 1).padStart(2, '0')}`,
    slot_id: slotCount - index,
    product_ids: spread(index * 3, 3 + (index % 5), products.length),
    valid_till: index % 3 === 2 ? null : hoursFrom(now, 24 * (index - 1)),
  }));
}

/** Returns a delivery sequence: the orders of a slot by user id, in the order of their delivery. */
function sequenceOf(slot: number): Record<string, number[]> {
  const stops = steps(4).map((stop) => {
    const order = firstOrderOfSequences + slot * 6 + stop;
    return { user: String(userOfOrder(order)), orders: [order] };
  });
  return Object.fromEntries(stops.map(({ user, orders }) => [user, orders]));
}

/** Returns the id of the order's user. */
export function userOfOrder(order: number): number {
  return ((order * 37) % 200) + 1;
}
