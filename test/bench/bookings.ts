import { createClient, type Transport } from '@connectrpc/connect';
import { migrate } from '../../shared/db/migrate.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService, SlotBookingState } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { numbers } from './calls-requests.ts';
import { mainOf, root } from './calls-stage.ts';
import { runSql } from './client.ts';
import { durableSettings, startBenchPostgres } from './data-postgres.ts';
import { printMedianTimes } from './median.ts';
import { temporaryFolder } from './program.ts';
import { runRounds } from './rounds.ts';
import { environmentOf, startServer } from './servers.ts';

// npm run bench:bookings: what a booking costs beside a redemption, one slot that all callers book at once beside one for each of
// them, what other callers wait meanwhile, and what bookings cost that are many; in turns in one run, and with fsync. The services
// have core 0. Needs taskset.

/** So many live bookings: a thousandth in slot 1, a hundredth in slot 2, and the others in 9,998 slots of 1,000 units. */
const data = (bookings: number) => `
  insert into staff_users (id, name) values (1, 'staff');
  insert into users (id, name, mobile) select id, 'user', id from generate_series(1, 100000) id;
  insert into coupons (id, coupon_code, discount_percent, is_apply_for_all, created_by)
    select id, 'CODE' || id, 5, true, 1 from generate_series(1, 10000) id;
  insert into slots (id, delivery_time, freeze_time, capacity)
    select id, '2040-01-02Z', '2040-01-01Z', case when id <= 2 then 1000000 else 10000 end from generate_series(1, 20000) id;
  insert into slot_bookings (slot_id, order_key, user_id, units, state, held_until, created_at, booked_at)
    select case when id % 1000 = 0 then 1 when id % 100 = 1 then 2 else 3 + id % 9998 end, 'order-' || id, 1 + id % 90000, 1,
      case when id % 4 = 0 then 'HELD' else 'BOOKED' end, case when id % 4 = 0 then now() + interval '1 day' end, now(),
      case when id % 4 > 0 then now() end
    from generate_series(1, ${bookings}) id;
  vacuum analyze`;

const postgres = await startBenchPostgres(durableSettings);
const stops: (() => unknown)[] = [];
try {
  const [many, few] = [await openDatabase('many', 1_000_000), await openDatabase('few', 1_000)];
  const slots = await open(many, 'slot');
  const bookings = createClient(SlotBookingService, slots.transport);
  const redemptions = createClient(RedemptionService, (await open(many, 'coupon')).transport);
  const ofFew = createClient(SlotBookingService, (await open(few, 'slot')).transport);
  let orders = 0;
  const book = async (api: typeof bookings, slotId: number) => {
    const { booked, message } = await api.book({ slotId, orderKey: `new-${++orders}`, userId: 1 + (orders % 90_000) });
    if (!booked) throw new Error(message);
  };
  const redeem = async () => {
    const order = { userId: 1 + (orders % 90_000), orderKey: `new-${++orders}`, orderAmount: 100 };
    const { valid, message } = await redemptions.redeem({ code: `CODE${1 + (orders % 10_000)}`, ...order });
    if (!valid) throw new Error(message);
  };
  // Slots that nobody else books: 65 for each round.
  const own = (round: number, caller: number) => 10_001 + 65 * round + caller;
  const other = createClient(SlotBookingService, await slots.as('another-caller'));
  const beside = () => other.getAvailability({ slotIds: numbers(10) });
  const { ratio, besideP95 } = await runRounds({
    Redeem: { call: redeem },
    'Book, 64 slots': { call: (round, caller) => book(bookings, own(round, caller)), beside },
    'Book, one slot': { call: (round) => book(bookings, own(round, 64)), beside },
    'Book, 1,000 bookings in all': { call: (_round, caller) => book(ofFew, 3 + caller), beside },
    'Book, 1,000,000 bookings of other slots': { call: (_round, caller) => book(bookings, 3_000 + caller), beside },
    'one caller: Book, of a slot with 1,000 bookings': { call: () => book(bookings, 1), callers: 1 },
    'one caller: Book, of a slot with 10,000 bookings': { call: () => book(bookings, 2), callers: 1 },
  });
  console.log(`Book costs ${ratio('Redeem', 'Book, 64 slots')} of Redeem, beside another caller's reads`);
  console.log(`one slot: ${ratio('Book, one slot', 'Book, 64 slots')} of the calls at 64 slots`);
  for (const name of ['Book, 64 slots', 'Book, one slot'])
    console.log(`${name}: another caller's GetAvailability p95 ${besideP95(name)} ms`);
  console.log(
    `1,000,000 bookings of other slots: ${ratio('Book, 1,000 bookings in all', 'Book, 1,000,000 bookings of other slots')} of the cost at 1,000`,
    `\n10,000 of its own: ${ratio('one caller: Book, of a slot with 1,000 bookings', 'one caller: Book, of a slot with 10,000 bookings')} of the cost at 1,000`,
  );
  await measureReads(bookings);
} finally {
  for (const stop of stops.toReversed()) await stop();
  await postgres.stop();
}

async function openDatabase(name: string, count: number): Promise<string> {
  const databaseUrl = await postgres.createDatabase(name);
  await migrate(databaseUrl);
  await runSql(databaseUrl, ...data(count).split(/;\n/));
  return databaseUrl;
}

/** Starts a service, and opens a transport to it as staff user 1. */
async function open(databaseUrl: string, service: 'slot' | 'coupon') {
  const env = { PATH: process.env.PATH, ...environmentOf(service, databaseUrl) };
  const server = await startServer('bookings', [mainOf(root, service)], env, temporaryFolder());
  stops.push(() => server.stop());
  const connection = createGrpcJsTransport(`127.0.0.1:${server.grpcPort}`);
  stops.push(() => connection.close());
  const as = async (subject?: string): Promise<Transport> =>
    withToken(connection, await signToken({ staffId: 1, ...(subject === undefined ? {} : { subject }) }));
  return { transport: await as(), as };
}

async function measureReads(bookings: ReturnType<typeof createClient<typeof SlotBookingService>>) {
  const { HELD, RELEASED } = SlotBookingState;
  const { nextPageToken: pageToken } = await bookings.listBookings({ slotId: 2 });
  const reads: Record<string, () => Promise<unknown>> = {
    'GetAvailability of 10 slots': () => bookings.getAvailability({ slotIds: numbers(10) }),
    'GetAvailability of 1,000 slots': () => bookings.getAvailability({ slotIds: numbers(1_000) }),
    'all bookings': () => bookings.listBookings({}),
    'those of a slot with 10,000': () => bookings.listBookings({ slotId: 2 }),
    'those of a slot with 10,000, the next page': () => bookings.listBookings({ slotId: 2, pageToken }),
    'those of a slot with 10,000 that are held': () => bookings.listBookings({ slotId: 2, states: [HELD] }),
    'those of a user': () => bookings.listBookings({ userId: 78 }),
    'those of an order': () => bookings.listBookings({ orderKey: 'order-500000' }),
    'those that were released': () => bookings.listBookings({ states: [RELEASED] }),
  };
  await printMedianTimes(reads);
}
