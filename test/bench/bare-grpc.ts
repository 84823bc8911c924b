import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { couponRead, createCouponWrite } from './bare-coupons.ts';
import { createSlotReads, createSlotWrite } from './bare-slots.ts';
import { config } from './bare-sql.ts';

// The baseline of the gRPC calls: grpc-js and protobuf-es as their manuals use them, with the same SQL
// and the same answers, and without credentials, validation, log, signals or a second protocol.

const server = new Server();

function serve<Input extends DescMessage, Output extends DescMessage>(
  method: DescMethodUnary<Input, Output>,
  handle: (request: MessageShape<Input>) => Promise<MessageInitShape<Output>>,
): void {
  const serialize = <Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>) => {
    const bytes = toBinary(schema, message);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
  const definition: MethodDefinition<MessageShape<Input>, MessageShape<Output>> = {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message) => serialize(method.input, message),
    requestDeserialize: (bytes) => fromBinary(method.input, bytes),
    responseSerialize: (message) => serialize(method.output, message),
    responseDeserialize: (bytes) => fromBinary(method.output, bytes),
  };
  const answer = (
    call: ServerUnaryCall<MessageShape<Input>, MessageShape<Output>>,
    callback: sendUnaryData<MessageShape<Output>>,
  ) => {
    handle(call.request).then((init) => callback(null, create(method.output, init)), callback);
  };
  server.addService({ [method.localName]: definition }, { [method.localName]: answer });
}

/** Answers with the message of a real call, decoding each request and encoding each answer. */
function echo<Input extends DescMessage, Output extends DescMessage>(method: DescMethodUnary<Input, Output>): void {
  const message = fromBinary(method.output, Buffer.from(config.echoes[method.name] ?? '', 'base64'));
  serve(method, async () => message);
}

const reads = createSlotReads();
serve(SlotService.method.getSlots, reads.getSlots);
serve(SlotService.method.getSlotById, reads.getSlotById);
serve(SlotService.method.getSlotsProductIds, reads.getSlotsProductIds);
serve(SlotService.method.createSlot, createSlotWrite().createSlot);
serve(CouponService.method.validate, couponRead().validate);
serve(CouponService.method.create, createCouponWrite().create);
echo(SlotService.method.getDeliverySequence);
echo(SlotStoreService.method.getProductSlots);

server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(JSON.stringify({ msg: 'serving', grpcPort: port }));
});
