import { randomUUID } from 'node:crypto';
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { assertSameAnswer, callGrpc, pathOf } from './answers.ts';
import { slotCount } from './calls-data.ts';
import { couponToCreate, numbers, slotToCreate } from './calls-requests.ts';
import {
  type AnsweredSide,
  grpcSide,
  type Intensity,
  jsonSide,
  persistentLoad,
  type Services,
  type Side,
  type Stage,
} from './calls-sides.ts';
import { frame } from './load.ts';
import type { MeasuredServer } from './servers.ts';

/** The servers of a comparison. A service is compared with those that the row has. */
export interface Sides {
  readonly service: Side;
  /** Runs one statement a call. */
  readonly bare?: Side;
  /** Another server of the same .proto, over gRPC. */
  readonly beside?: Side;
}

/** A comparison of a service with its baselines. */
export interface Row {
  readonly name: string;
  /** How many calls are in flight. */
  readonly callers: number;
  /** The ratio of its calls a second to those of the bare server that the service has to reach. */
  readonly target?: number | undefined;
  /** How many times as long as usual a round takes, for few large answers. */
  readonly length: number;
  /** Calls the service once. Its answer is undefined for a write, whose answers differ. */
  openService(): Promise<Side & { readonly answer?: Message }>;
  /** Calls each side once. Throws unless the bare server answers the first request as the service does. */
  prepare(stage: Stage): Promise<Sides>;
  afterRound?(): Promise<void>;
}

/** A side, or nothing where its server does not have the procedure. */
async function ifImplemented<Opened extends Side>(side: Promise<Opened>): Promise<Opened | undefined> {
  return side.catch((error: unknown) => {
    if (error instanceof ConnectError && error.code === Code.Unimplemented) return undefined;
    throw error;
  });
}

/** Whether a title has one of the texts of `--only`, which stand with `|` between them. */
export const isAsked = (title: string, only: string) => only.split('|').some((text) => title.includes(text));

/** What a row is called where its columns are not shown. */
export const titleOf = ({ name, callers }: Row) => `${name}, ${callers === 1 ? '1 caller' : `${callers} callers`}`;

const intensities: Readonly<Record<number, Intensity>> = {
  1: { connections: 1, streams: 1 },
  4: { connections: 2, streams: 2 },
  16: { connections: 4, streams: 4 },
  32: { connections: 4, streams: 8 },
  64: { connections: 4, streams: 16 },
};

/** How many slots UpdateSlotProducts updates in turns. */
const updatedSlots = 200;
let stages = 0;

type Requests<Input extends DescMessage> = readonly [MessageShape<Input>, ...MessageShape<Input>[]];

/** What a read is compared with, and how. */
interface ReadOptions {
  readonly callers: number;
  readonly target?: number;
  readonly json?: boolean;
  readonly length?: number;
  /** The bare server; none where a plain one would do something else. */
  readonly bare?: 'bareGrpc' | 'bareHttp' | undefined;
  /** The fields of the answer that a bare server does not have. */
  readonly generated?: readonly string[];
}

interface WriteOptions {
  readonly generated?: string[];
  readonly keyed?: boolean;
  readonly callers?: number;
  /** What a write needs before its first call. */
  before?(): Promise<void>;
}

export function rowsOf(stage: Services): Row[] {
  const { slot, coupon, token } = stage;
  const { getAll, getSlots, getSlotById, getSlotsProductIds, getDeliverySequence, createSlot, updateSlotProducts } =
    SlotService.method;
  const { validate, create: createCoupon, getAll: getCoupons, getById: getCoupon } = CouponService.method;
  const { getProductSlots } = SlotStoreService.method;
  const { redeem } = RedemptionService.method;
  const { book } = SlotBookingService.method;

  /** A read: over gRPC against a gRPC server, with JSON over HTTP/1.1 against a server of node:http. */
  function read<Input extends DescMessage, Output extends DescMessage>(
    name: string,
    server: MeasuredServer,
    method: DescMethodUnary<Input, Output>,
    requests: Requests<Input>,
    options: ReadOptions,
  ): Row {
    const { callers, target, json = false, length = 1, bare, generated = [] } = options;
    const intensity = intensities[callers] ?? { connections: callers, streams: 1 };
    const sideOf = (on: MeasuredServer, inJson = json): Promise<AnsweredSide<MessageShape<Output>>> =>
      inJson
        ? jsonSide(stage, on, method, requests[0], { connections: callers, streams: 1 })
        : grpcSide(stage, on, method, requests, intensity);
    return {
      name: `${name}, ${json ? 'JSON' : 'gRPC'}`,
      callers,
      target,
      length,
      openService: () => sideOf(server),
      async prepare(servers) {
        const service = await sideOf(server);
        const other = servers.beside && (await ifImplemented(sideOf(servers.beside, false)));
        const beside = other && { beside: other };
        if (bare === undefined) return { service, ...beside };
        const plain = await sideOf(servers[bare], bare === 'bareHttp');
        for (const { answer } of [plain, ...(other ? [other] : [])]) {
          assertSameAnswer(method.output, service.answer, answer, generated);
        }
        return { service, bare: plain, ...beside };
      },
    };
  }

  /**
   * A write over gRPC on both sides; of each answer the `generated` fields are its own. One that is `keyed` has an
   * idempotency key, which a bare server ignores; one without `generated` fields has no bare server.
   */
  function write<Input extends DescMessage, Output extends DescMessage>(
    server: MeasuredServer,
    method: DescMethodUnary<Input, Output>,
    next: () => MessageShape<Input>,
    name: string,
    { generated, keyed = false, callers = 16, before = async () => undefined }: WriteOptions = {},
  ): Row {
    const sideOf = (measured: MeasuredServer, answer: MessageShape<Output>): Side => {
      const requests = {
        ...{ port: measured.grpcPort, path: pathOf(method), token, json: false, keyed },
        // Ids and times have more or fewer bytes from call to call; a refusal has less than half.
        answerBytes: 0.8 * toBinary(method.output, answer).length,
        ...{ connections: 1, streams: callers, body: () => frame(toBinary(method.input, next())) },
      };
      return { server: measured, inFlight: callers, requests, load: (count) => persistentLoad(requests, count) };
    };
    return {
      name: `${name}${keyed ? ', with a key' : ''}, gRPC`,
      callers,
      target: generated && (keyed ? 0.6 : 0.8),
      length: 1,
      async openService() {
        await before();
        return sideOf(server, await callGrpc(server.grpcPort, method, next(), token));
      },
      async prepare({ bareGrpc }) {
        await before();
        const service = await callGrpc(server.grpcPort, method, next(), token);
        if (generated === undefined) return { service: sideOf(server, service) };
        const bare = await callGrpc(bareGrpc.grpcPort, method, next(), token);
        assertSameAnswer(method.output, service, bare, generated);
        return { service: sideOf(server, service), bare: sideOf(bareGrpc, bare) };
      },
      afterRound: () => stage.removeWritten(),
    };
  }

  const toValidate = (code: string) => create(validate.input, { code, userId: 1, orderAmount: 999.9 });
  const slotById = (id: number) => ({ ...create(getSlotById.input), id });
  const twentySlots = (first: number) =>
    create(getSlotsProductIds.input, { slotIds: numbers(20).map((n) => first + n) });
  const couponById = (id: number) => ({ ...create(getCoupon.input), id });
  // Two builds under comparison write into the same database.
  const run = randomUUID();
  let snippets = 0;
  const nextSlot = () => {
    snippets += 2;
    return slotToCreate([`written-${run}-${snippets}`, `written-${run}-${snippets + 1}`]);
  };
  let updates = 0;
  stages += 1;
  const firstProduct = 5 * (stages % 2);
  // One slot after the other gets two other products, or more where another build has updated it meanwhile.
  const nextProducts = () => {
    updates += 1;
    const first = firstProduct + 2 * (Math.floor(updates / updatedSlots) % 2);
    const productIds = numbers(40).map((n) => n + first);
    return create(updateSlotProducts.input, { slotId: 1 + (updates % updatedSlots), productIds });
  };
  let orders = 0;
  // Users in turn: those of one user wait for one another.
  const nextOrder = () => {
    orders += 1;
    const order = { userId: 1 + (orders % 1_000), orderKey: `${run}-${orders}`, orderAmount: 999.9 };
    return create(redeem.input, { code: stage.couponCodes[0] ?? '', ...order });
  };
  let bookings = 0;
  const nextBooking = () => {
    bookings += 1;
    return create(book.input, { slotId: 1 + (bookings % slotCount), orderKey: `${run}-${bookings}` });
  };
  const oneOf = <Item>(first: Item): readonly [Item] => [first];
  const each = <Item>(count: number, item: (at: number) => Item): readonly [Item, ...Item[]] => [
    item(0),
    ...numbers(count - 1).map(item),
  ];
  const bare = 'bareGrpc';
  const codes = stage.couponCodes;
  const validateOne = oneOf(toValidate(codes[0] ?? ''));
  const validateMany = each(codes.length, (at) => toValidate(codes[at] ?? ''));
  const slotOne = oneOf(slotById(7));
  const slotMany = each(64, (at) => slotById(at + 7));
  const idsOne = oneOf(twentySlots(0));
  const idsMany = each(64, (at) => twentySlots(at * 10));
  const lists = oneOf(create(getAll.input));
  const justSlots = oneOf(create(getSlots.input));
  const couponPage = oneOf(create(getCoupons.input));
  const couponsWith = (search: string) => create(getCoupons.input, { search });
  const cached = oneOf(create(getDeliverySequence.input, { id: '7' }));
  const uncached = oneOf(create(getDeliverySequence.input, { id: String(stage.arraySequenceSlot) }));

  const productSlots = oneOf(create(getProductSlots.input, { productIds: [17] }));
  const coupons = oneOf(couponById(stage.couponId));
  const rare = oneOf(couponsWith(stage.rareTerm));
  const common = oneOf(couponsWith(stage.commonTerm));
  const inJson = { json: true, bare: 'bareHttp' } as const;
  // Without a library, JSON is the quickest that Node can do.
  const allSlots = { length: 2, bare: 'bareHttp' } as const;
  const cursors = ['nextCursor', 'nextPageToken'];

  return [
    ...[1, 16].map((callers) => read('Validate', coupon, validate, validateOne, { callers, bare })),
    read('Validate', coupon, validate, validateOne, { callers: 64, bare, target: 1 }),
    read('Validate, 64 codes', coupon, validate, validateMany, { callers: 64, bare, target: 1 }),
    read('Validate', coupon, validate, validateOne, { callers: 1, ...inJson }),
    read('Validate', coupon, validate, validateOne, { callers: 32, ...inJson, target: 0.8 }),
    ...[1, 16].map((callers) => read('GetSlotById, 40 products', slot, getSlotById, slotOne, { callers, bare })),
    read('GetSlotById, 40 products', slot, getSlotById, slotOne, { callers: 64, bare, target: 1.2 }),
    read('GetSlotById, 64 slots', slot, getSlotById, slotMany, { callers: 64, bare, target: 1.2 }),
    ...[1, 16, 64].map((callers) =>
      read('GetSlotsProductIds of 20 slots', slot, getSlotsProductIds, idsOne, { callers }),
    ),
    read('GetSlotsProductIds, 64 times 20 slots', slot, getSlotsProductIds, idsMany, { callers: 64 }),
    read('GetSlots, 1,000 slots', slot, getSlots, justSlots, { callers: 1, bare }),
    read('GetSlots, 1,000 slots', slot, getSlots, justSlots, { callers: 16, bare, target: 5 }),
    ...[1, 16].map((callers) => read('GetSlots, 1,000 slots', slot, getSlots, justSlots, { callers, json: true })),
    read('GetAll, 1,000 slots of 40 products', slot, getAll, lists, { callers: 1, ...allSlots }),
    ...[false, true].map((json) =>
      read('GetAll, 1,000 slots of 40 products', slot, getAll, lists, { callers: 4, ...allSlots, json, target: 3 }),
    ),
    read('GetDeliverySequence, cached', slot, getDeliverySequence, cached, { callers: 64 }),
    ...[1, 64].map((callers) =>
      read('GetDeliverySequence, not cached', slot, getDeliverySequence, uncached, { callers }),
    ),
    read('GetProductSlots of one product', slot, getProductSlots, productSlots, { callers: 64 }),
    ...[1, 16, 64].map((callers) => read('GetById (coupon)', coupon, getCoupon, coupons, { callers, bare })),
    ...[1, 16].map((callers) =>
      read('GetAll (coupons), 50 with relations', coupon, getCoupons, couponPage, { callers }),
    ),
    read('GetAll (coupons), a rare term', coupon, getCoupons, rare, { callers: 16, bare, target: 3 }),
    read('GetAll (coupons), a common term', coupon, getCoupons, common, { callers: 16, bare, generated: cursors }),
    ...[false, true].flatMap((keyed) => [
      write(slot, createSlot, nextSlot, 'CreateSlot, 20 products, 2 snippets', {
        generated: ['id', 'slotId', 'snippetCode', 'etag'],
        keyed,
      }),
      write(coupon, createCoupon, couponToCreate, 'Create (coupon)', {
        generated: ['id', 'couponCode', 'createdAt', 'etag'],
        keyed,
      }),
      write(slot, updateSlotProducts, nextProducts, 'UpdateSlotProducts, 2 of 40 products', { keyed }),
    ]),
    ...[1, 16].map((callers) => write(coupon, redeem, nextOrder, 'Redeem', { callers })),
    // Last, because slots that can be booked have more to show.
    ...[1, 16].map((callers) =>
      write(slot, book, nextBooking, 'Book', { callers, before: () => stage.openBookings() }),
    ),
  ];
}
