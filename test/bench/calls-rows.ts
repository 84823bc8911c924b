import { randomUUID } from 'node:crypto';
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { assertSameAnswer, callGrpc, pathOf } from './answers.ts';
import { couponToCreate, numbers, slotToCreate } from './calls-requests.ts';
import { type BareServers, grpcSide, type Intensity, jsonSide, type Services, type Side } from './calls-sides.ts';
import { frame } from './load.ts';
import type { MeasuredServer } from './servers.ts';
import { writeLoad, writesInFlight } from './writes.ts';

/** A comparison of a service with its baseline. */
export interface Row {
  readonly name: string;
  readonly against: string;
  /** The ratio of calls per second that the service has to reach. */
  readonly target: number;
  /** How many times as long as usual a round takes, for few large answers. */
  readonly length: number;
  /** Calls the service once. Its answer is undefined for a write, whose answers differ. */
  openService(): Promise<Side & { readonly answer?: Message }>;
  /** Calls both sides once, and throws unless both give the same answer. */
  prepare(bare: BareServers): Promise<{ service: Side; bare: Side }>;
  afterRound?(): Promise<void>;
}

const small: Intensity = { connections: 4, streams: 16 };
const smallOverHttp1: Intensity = { connections: 32, streams: 1 };
const medium: Intensity = { connections: 4, streams: 4 };
const large: Intensity = { connections: 2, streams: 1 };

const bareSql = 'bare grpc-js, same SQL';
const bareEcho = 'bare grpc-js echo of the answer';
const stringify = 'node:http, same SQL, JSON.stringify';

export function rowsOf(stage: Services): Row[] {
  const { slot, coupon, token } = stage;
  const { getAll, getSlots, getSlotById, getSlotsProductIds, getDeliverySequence, createSlot } = SlotService.method;
  const { validate, create: createCoupon } = CouponService.method;
  const { getProductSlots } = SlotStoreService.method;

  /** A read over gRPC on both sides. */
  function read<Input extends DescMessage, Output extends DescMessage>(
    server: MeasuredServer,
    method: DescMethodUnary<Input, Output>,
    request: MessageShape<Input>,
    [name, against, target]: [name: string, against: string, target: number],
    intensity = small,
  ): Row {
    const openService = () => grpcSide(stage, server, method, request, intensity);
    return {
      name: `${name}, gRPC`,
      against,
      target,
      length: 1,
      openService,
      async prepare({ bareGrpc }) {
        const service = await openService();
        const bare = await grpcSide(stage, bareGrpc, method, request, intensity);
        assertSameAnswer(method.output, service.answer, bare.answer);
        return { service, bare };
      },
    };
  }

  /** A write over gRPC on both sides; of each answer the `generated` fields are its own. */
  function write<Input extends DescMessage, Output extends DescMessage>(
    server: MeasuredServer,
    method: DescMethodUnary<Input, Output>,
    next: () => MessageShape<Input>,
    generated: string[],
    name: string,
  ): Row {
    const sideOf = (measured: MeasuredServer, answer: MessageShape<Output>): Side => ({
      server: measured,
      inFlight: writesInFlight,
      load: (count) => {
        const request = () => Buffer.from(toBinary(method.input, next()));
        return writeLoad(measured.grpcPort, pathOf(method), token, request, count);
      },
      requests: {
        ...{
          port: measured.grpcPort,
          path: pathOf(method),
          token,
          json: false,
          answerBytes: toBinary(method.output, answer).length,
        },
        ...{ connections: 1, streams: writesInFlight, body: () => frame(toBinary(method.input, next())) },
      },
    });
    return {
      name: `${name}, gRPC`,
      against: `${bareSql} in one transaction`,
      target: 0.8,
      length: 1,
      async openService() {
        return sideOf(server, await callGrpc(server.grpcPort, method, next(), token));
      },
      async prepare({ bareGrpc }) {
        const service = await callGrpc(server.grpcPort, method, next(), token);
        const bare = await callGrpc(bareGrpc.grpcPort, method, next(), token);
        assertSameAnswer(method.output, service, bare, generated);
        return { service: sideOf(server, service), bare: sideOf(bareGrpc, bare) };
      },
      afterRound: () => stage.removeWritten(),
    };
  }

  const toValidate = create(validate.input, { code: stage.couponCode, userId: 1, orderAmount: 999.9 });
  const everything = create(getAll.input);
  // Two builds under comparison write into the same database.
  const run = randomUUID();
  let snippets = 0;
  const nextSlot = () => {
    snippets += 2;
    return slotToCreate([`written-${run}-${snippets}`, `written-${run}-${snippets + 1}`]);
  };

  return [
    read(coupon, validate, toValidate, ['Validate', bareSql, 0.8]),
    read(slot, getSlots, create(getSlots.input), ['GetSlots, 1,000 slots', bareSql, 0.8], medium),
    read(slot, getSlotById, create(getSlotById.input, { id: 7 }), ['GetSlotById, 40 products', bareSql, 0.8]),
    read(slot, getSlotsProductIds, create(getSlotsProductIds.input, { slotIds: numbers(20) }), [
      'GetSlotsProductIds of 20 slots',
      bareSql,
      0.8,
    ]),
    read(slot, getDeliverySequence, create(getDeliverySequence.input, { id: '7' }), [
      'GetDeliverySequence, cached',
      bareEcho,
      0.75,
    ]),
    read(slot, getProductSlots, create(getProductSlots.input, { productIds: [17] }), [
      'GetProductSlots of one product',
      bareEcho,
      0.75,
    ]),
    {
      name: 'Validate, JSON over HTTP/1.1',
      against: 'bare node:http, same SQL',
      target: 0.6,
      length: 1,
      openService: () => jsonSide(stage, coupon, validate, toValidate, smallOverHttp1),
      async prepare({ bareHttp }) {
        const service = await jsonSide(stage, coupon, validate, toValidate, smallOverHttp1);
        const bare = await jsonSide(stage, bareHttp, validate, toValidate, smallOverHttp1);
        assertSameAnswer(validate.output, service.answer, bare.answer);
        return { service, bare };
      },
    },
    {
      name: 'GetAll, 1,000 slots of 40 products, gRPC',
      against: stringify,
      target: 1,
      length: 2,
      openService: () => grpcSide(stage, slot, getAll, everything, large),
      async prepare({ bareHttp }) {
        const service = await grpcSide(stage, slot, getAll, everything, large);
        const bare = await jsonSide(stage, bareHttp, getAll, everything, large);
        assertSameAnswer(getAll.output, service.answer, bare.answer);
        return { service, bare };
      },
    },
    {
      name: 'GetAll, 1,000 slots of 40 products, JSON over HTTP/1.1',
      against: stringify,
      target: 1,
      length: 2,
      openService: () => jsonSide(stage, slot, getAll, everything, large),
      async prepare({ bareHttp }) {
        const service = await jsonSide(stage, slot, getAll, everything, large);
        const bare = await jsonSide(stage, bareHttp, getAll, everything, large);
        assertSameAnswer(getAll.output, service.answer, bare.answer);
        return { service, bare };
      },
    },
    write(slot, createSlot, nextSlot, ['id', 'slotId', 'snippetCode'], 'CreateSlot, 20 products, 2 snippets'),
    write(coupon, createCoupon, couponToCreate, ['id', 'couponCode', 'createdAt'], 'Create (coupon)'),
  ];
}
