import { Server, ServerCredentials } from '@grpc/grpc-js';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { createCouponReads, createCouponWrite } from './bare-coupons.ts';
import { serve } from './bare-serve.ts';
import { createSlotReads, createSlotWrite } from './bare-slots.ts';

// The baseline of the gRPC calls: one statement a call, and no credentials, validation, log, signals or second protocol.

const server = new Server();
const reads = createSlotReads();
const couponReads = createCouponReads();
serve(server, SlotService.method.getSlots, reads.getSlots);
serve(server, SlotService.method.getSlotById, reads.getSlotById);
serve(server, SlotService.method.createSlot, createSlotWrite().createSlot);
serve(server, CouponService.method.validate, couponReads.validate);
serve(server, CouponService.method.getAll, couponReads.getAll);
serve(server, CouponService.method.getById, couponReads.getById);
serve(server, CouponService.method.create, createCouponWrite().create);

server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(JSON.stringify({ msg: 'serving', grpcPort: port }));
});
