import { create, type DescMessage, type DescMethodUnary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { assertSameAnswer, callGrpc, pathOf } from './answers.ts';
import { couponToCreate, numbers, slotToCreate } from './calls-requests.ts';
import { grpcSide, type Intensity, jsonSide, type Side, type Stage } from './calls-sides.ts';
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
  /** Calls both sides once, and throws unless both give the same answer. */
  prepare(): Promise<{ service: Side; bare: Side }>;
  afterRound?(): Promise<void>;
}

const small: Intensity = { connections: 4, streams: 16 };
const smallOverHttp1: Intensity = { connections: 32, streams: 1 };
const medium: Intensity = { connections: 4, streams: 4 };
const large: Intensity = { connections: 2, streams: 1 };

const bareSql = 'bare grpc-js, same SQL';
const bareEcho = 'bare grpc-js echo of the answer';
const stringify = 'node:http, same SQL, JSON.stringify';

export function rowsOf(stage: Stage): Row[] {
  const { slot, coupon, bareGrpc, bareHttp, token } = stage;
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
    return {
      name: `${name}, gRPC`,
      against,
      target,
      length: 1,
      async prepare() {
        const service = await grpcSide(stage, server, method, request, intensity);
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
    const sideOf = (measured: MeasuredServer): Side => ({
      server: measured,
      inFlight: writesInFlight,
      load: (count) => {
        const request = () => Buffer.from(toBinary(method.input, next()));
        return writeLoad(measured.grpcPort, pathOf(method), token, request, count);
      },
    });
    return {
      name: `${name}, gRPC`,
      against: `${bareSql} in one transaction`,
      target: 0.8,
      length: 1,
      async prepare() {
        const service = await callGrpc(server.grpcPort, method, next(), token);
        const bare = await callGrpc(bareGrpc.grpcPort, method, next(), token);
        assertSameAnswer(method.output, service, bare, generated);
        return { service: sideOf(server), bare: sideOf(bareGrpc) };
      },
      afterRound: () => stage.removeWritten(),
    };
  }

  const toValidate = create(validate.input, { code: stage.couponCode, userId: 1, orderAmount: 999.9 });
  const everything = create(getAll.input);
  let snippets = 0;
  const nextSlot = () => {
    snippets += 2;
    return slotToCreate([`written-${snippets}`, `written-${snippets + 1}`]);
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
      async prepare() {
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
      async prepare() {
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
      async prepare() {
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
