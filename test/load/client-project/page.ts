import { createConnectClient } from 'delivery-admin-client';
import { CouponService } from 'delivery-admin-client/coupon/v1/coupon_service_pb';
import { SlotBookingService } from 'delivery-admin-client/slot/v1/slot_booking_service_pb';
import { SlotService } from 'delivery-admin-client/slot/v1/slot_service_pb';
import { SlotStoreService } from 'delivery-admin-client/slot/v1/slot_store_service_pb';
import { makeCalls, type Outcome } from './calls.js';

/** Makes the calls of this page over Connect. */
function callServices(slotUrl: string, couponUrl: string, token: string): Promise<Outcome> {
  return makeCalls({
    slots: createConnectClient(SlotService, { baseUrl: slotUrl, token }),
    bookings: createConnectClient(SlotBookingService, { baseUrl: slotUrl, token }),
    stores: createConnectClient(SlotStoreService, { baseUrl: slotUrl, token }),
    coupons: createConnectClient(CouponService, { baseUrl: couponUrl, token, useHttpGet: true }),
  });
}

Object.assign(globalThis, { callServices });
