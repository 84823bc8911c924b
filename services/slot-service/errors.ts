import { Code } from '@connectrpc/connect';
import { errorRow } from '../../shared/errors/errors.ts';

/** All errors of the slot procedures (spec 7, design 3). */
export const slotErrors = {
  timesRequired: errorRow('TIMES_REQUIRED', Code.InvalidArgument, 'Delivery time and orders close time are required'),
  snippetProductsInvalid: errorRow(
    'SNIPPET_PRODUCTS_INVALID',
    Code.InvalidArgument,
    'One or more invalid product IDs in snippet "<name>"',
  ),
  snippetNameTaken: errorRow('SNIPPET_NAME_TAKEN', Code.AlreadyExists, 'Snippet name "<name>" already exists'),
  slotNotFound: errorRow('SLOT_NOT_FOUND', Code.NotFound, 'Slot not found'),
  slotTaken: errorRow('SLOT_TAKEN', Code.AlreadyExists, 'A slot at this time exists already'),
  storeRequestLost: errorRow(
    'STORE_REQUEST_LOST',
    Code.Aborted,
    'The database does not know the write of this store-request-id',
  ),
  mobileTaken: errorRow('MOBILE_TAKEN', Code.AlreadyExists, 'Mobile number belongs to another user'),
  userNotFound: errorRow('USER_NOT_FOUND', Code.NotFound, 'User not found'),
  orderKeyTaken: errorRow('ORDER_KEY_TAKEN', Code.AlreadyExists, "This order is another user's"),
  orderHasBooking: errorRow('ORDER_KEY_TAKEN', Code.AlreadyExists, 'This order has a booking of this slot'),
  bookingNotFound: errorRow('BOOKING_NOT_FOUND', Code.NotFound, 'Booking not found'),
  bookingReleased: errorRow('BOOKING_RELEASED', Code.FailedPrecondition, 'The booking was released'),
  holdExpired: errorRow('HOLD_EXPIRED', Code.FailedPrecondition, 'The hold has run out'),
  slotNotUpdated: errorRow('SLOT_NOT_UPDATED', Code.FailedPrecondition, 'Unable to Update Slot'),
};
