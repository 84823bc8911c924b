import { createConnectClient } from 'delivery-admin-client';
import { CouponService } from 'delivery-admin-client/coupon/v1/coupon_service_pb';
import { createGrpcClient } from 'delivery-admin-client/grpc';
import { SlotBookingService } from 'delivery-admin-client/slot/v1/slot_booking_service_pb';
import { SlotService } from 'delivery-admin-client/slot/v1/slot_service_pb';
import { SlotStoreService } from 'delivery-admin-client/slot/v1/slot_store_service_pb';
import { makeCalls } from './calls.js';

// A service of another team: it makes the same calls over gRPC and over Connect, and prints what it sees.
const { TOKEN: token = '', SLOT_GRPC = '', SLOT_WEB = '', COUPON_GRPC = '', COUPON_WEB = '' } = process.env;
const slot = { addresses: [SLOT_GRPC], token };
const grpc = {
  slots: createGrpcClient(SlotService, slot),
  bookings: createGrpcClient(SlotBookingService, slot),
  stores: createGrpcClient(SlotStoreService, slot),
  coupons: createGrpcClient(CouponService, { addresses: [COUPON_GRPC], token: () => token }),
};
const connect = {
  slots: createConnectClient(SlotService, { baseUrl: SLOT_WEB, token }),
  bookings: createConnectClient(SlotBookingService, { baseUrl: SLOT_WEB, token }),
  stores: createConnectClient(SlotStoreService, { baseUrl: SLOT_WEB, token }),
  coupons: createConnectClient(CouponService, { baseUrl: COUPON_WEB, token: async () => token, useHttpGet: true }),
};
console.log(JSON.stringify({ grpc: await makeCalls(grpc), connect: await makeCalls(connect) }));
for (const client of Object.values(grpc)) client.close();
