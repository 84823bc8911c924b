import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { SlotBookingService } from '#gen/slot/v1/slot_booking_service_pb';

/** Reads the latest redemption and the latest booking of an order, with one call to each service. */
export function useOrder(orderKey: string | undefined) {
  const request = orderKey === undefined ? skipToken : { orderKey, limit: 1 };
  const redemptions = useQuery(RedemptionService.method.listRedemptions, request);
  const bookings = useQuery(SlotBookingService.method.listBookings, request);
  return {
    redemption: redemptions.data?.redemptions[0],
    booking: bookings.data?.bookings[0],
    error: redemptions.error ?? bookings.error,
    isFetching: redemptions.isFetching || bookings.isFetching,
  };
}

/** Reads the name of an order, without pasted spaces: visible ASCII characters (design 13). Undefined for any other text. */
export function readOrderKey(text: string): string | undefined {
  const key = text.replace(/\s/g, '');
  return /^[!-~]{1,128}$/.test(key) ? key : undefined;
}

/** Returns the path of an order's page. */
export function orderPath(orderKey: string): string {
  // Not in the path: there, an address has no place for `..`, nor for `%2F`.
  return `/orders?${new URLSearchParams({ key: orderKey })}`;
}
