import type { MessageInitShape } from '@bufbuild/protobuf';
import { beforeAll, expect, it } from 'vitest';
import {
  type ListBookingsRequestSchema,
  SlotBookingState,
} from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { bookingContract, expectError, expectInvalidField } from '../../support/contract.ts';
import { readPages } from '../../support/pages.ts';

type Request = MessageInitShape<typeof ListBookingsRequestSchema>;

const { HELD, BOOKED, RELEASED, EXPIRED } = SlotBookingState;
const states = [HELD, EXPIRED, EXPIRED, BOOKED, RELEASED] as const;

/** Forty bookings, newest first, of two slots, two users or none, and ten orders. */
const forty = Array.from({ length: 40 }, (_booking, index) => {
  const id = 40 - index;
  const userId = id % 3 === 0 ? undefined : 1 + (id % 2);
  return { id, slotId: 1 + (id % 2), userId, orderKey: `order-${Math.ceil(id / 4)}`, state: states[id % 5] ?? HELD };
});

bookingContract('ListBookings', (api) => {
  beforeAll(() =>
    api.sql(`insert into slot_bookings (id, slot_id, user_id, order_key, units, state, held_until, created_at, booked_at, released_at)
      select n, 1 + n % 2, case when n % 3 > 0 then 1 + n % 2 end, 'order-' || ceil(n / 4.0), n,
        (array['HELD', 'HELD', 'EXPIRED', 'BOOKED', 'RELEASED'])[1 + n % 5],
        case n % 5 when 0 then now() + interval '1 hour' when 1 then now() - interval '1 minute' when 2 then now() end,
        now(), case when n % 5 in (3, 4) then now() end, case when n % 5 = 4 then now() end
      from generate_series(1, 40) n`),
  );
  const idsOf = async (request: Request) => (await api.staff.listBookings(request)).bookings.map(({ id }) => id);

  it('All bookings are listed, newest first, with the state of this moment', async () => {
    const { bookings, nextPageToken } = await api.staff.listBookings({ limit: 1_000 });
    expect(
      bookings.map(({ id, slotId, userId, orderKey, state }) => ({ id, slotId, userId, orderKey, state })),
    ).toEqual(forty);
    expect(bookings.every(({ id, units }) => units === id)).toBe(true);
    expect(nextPageToken).toBe('');
    const released = bookings.find(({ id }) => id === 4);
    expect([released?.heldUntil, released?.bookedAt === undefined, released?.releasedAt === undefined]).toEqual([
      ...[undefined, false, false],
    ]);
  });

  it.each<[Request, (booking: (typeof forty)[number]) => boolean]>([
    [{ slotId: 1 }, ({ slotId }) => slotId === 1],
    [{ userId: 2 }, ({ userId }) => userId === 2],
    [{ orderKey: 'order-3' }, ({ orderKey }) => orderKey === 'order-3'],
    [{ slotId: 2, userId: 2 }, ({ slotId, userId }) => slotId === 2 && userId === 2],
    [{ states: [EXPIRED, BOOKED, EXPIRED] }, ({ state }) => state === EXPIRED || state === BOOKED],
    [{ slotId: 2, states: [EXPIRED] }, ({ slotId, state }) => slotId === 2 && state === EXPIRED],
    [{ orderKey: 'order-4', states: [BOOKED] }, ({ orderKey, state }) => orderKey === 'order-4' && state === BOOKED],
    [{ slotId: 99 }, () => false],
  ])('The bookings of %j are listed, page by page, and counted', async (filters, matches) => {
    const pages = await readPages((pageToken) => api.staff.listBookings({ ...filters, limit: 4, pageToken }));
    for (const page of pages) expect(page.bookings.length).toBeLessThanOrEqual(4);
    const found = pages.flatMap(({ bookings }) => bookings.map(({ id }) => id));
    expect(found).toEqual(forty.filter(matches).map(({ id }) => id));
    const { total } = await api.staff.listBookings({ ...filters, limit: 1, withTotal: true });
    expect([total, pages[0]?.total]).toEqual([found.length, undefined]);
  });

  it('A page token is bound to its filters', async () => {
    const { nextPageToken: pageToken } = await api.staff.listBookings({ slotId: 1, limit: 2 });
    expect(await idsOf({ slotId: 1, limit: 1, pageToken })).toEqual([36]);
    await expectInvalidField(idsOf({ slotId: 2, pageToken }), 'page_token');
  });

  it.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 1_001 }, 'limit'],
    [{ states: [SlotBookingState.UNSPECIFIED] }, 'states[0]'],
    [{ orderKey: ' ' }, 'order_key'],
  ])('%j is refused: %s is out of bounds', async (wrong, field) => {
    await expectInvalidField(idsOf(wrong), field);
  });

  it('A caller without a staff identity is denied', async () => {
    await expectError(api.guest.listBookings({}), 'ACCESS_DENIED');
  });
});
