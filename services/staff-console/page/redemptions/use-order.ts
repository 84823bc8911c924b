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
