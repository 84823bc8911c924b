import { Code } from '@connectrpc/connect';
import { errorRow } from '../../shared/errors/errors.ts';

/** All errors of the coupon procedures (spec 4.2, design 3 and 13). */
export const couponErrors = {
  unauthorized: errorRow('UNAUTHORIZED', Code.Unauthenticated, 'Unauthorized'),
  oneDiscountRequired: errorRow(
    'ONE_DISCOUNT_REQUIRED',
    Code.InvalidArgument,
    'Either discountPercent or flatDiscount must be provided (but not both)',
  ),
  twoDiscounts: errorRow('TWO_DISCOUNTS', Code.InvalidArgument, 'Cannot have both discountPercent and flatDiscount'),
  usersOrAllRequired: errorRow(
    'APPLICABLE_USERS_OR_ALL_REQUIRED',
    Code.InvalidArgument,
    'applicableUsers is required for user-based coupons (or set isApplyForAll to true)',
  ),
  usersRequired: errorRow(
    'APPLICABLE_USERS_REQUIRED',
    Code.InvalidArgument,
    'applicableUsers is required for user-based coupons',
  ),
  userBasedAndForAll: errorRow(
    'USER_BASED_AND_FOR_ALL',
    Code.InvalidArgument,
    'Cannot be both user-based and apply for all users',
  ),
  usersNotFound: errorRow('APPLICABLE_USERS_NOT_FOUND', Code.InvalidArgument, 'Some applicable users not found'),
  productsNotFound: errorRow(
    'APPLICABLE_PRODUCTS_NOT_FOUND',
    Code.InvalidArgument,
    'Some applicable products not found',
  ),
  couponNotFound: errorRow('COUPON_NOT_FOUND', Code.NotFound, 'Coupon not found'),
  couponCodeTaken: errorRow('COUPON_CODE_TAKEN', Code.AlreadyExists, 'Coupon code already exists'),
  secretCodeTaken: errorRow('SECRET_CODE_TAKEN', Code.AlreadyExists, 'Secret code already exists'),
  generatedCodeTaken: errorRow(
    'GENERATED_CODE_TAKEN',
    Code.AlreadyExists,
    'Generated coupon code already exists - please try again',
  ),
  orderNotFound: errorRow('ORDER_NOT_FOUND', Code.NotFound, 'Order not found'),
  orderUserNotFound: errorRow('ORDER_USER_NOT_FOUND', Code.NotFound, 'User not found for this order'),
  orderTotalInvalid: errorRow(
    'ORDER_TOTAL_INVALID',
    Code.FailedPrecondition,
    'The total of this order is no amount of 0 or more',
  ),
  mobileNotTenDigits: errorRow(
    'MOBILE_NOT_TEN_DIGITS',
    Code.InvalidArgument,
    'Mobile number must be exactly 10 digits',
  ),
  tooManyMisses: errorRow(
    'TOO_MANY_MISSES',
    Code.ResourceExhausted,
    'Too many coupon codes were not found - please try again later',
  ),
  userNotFound: errorRow('USER_NOT_FOUND', Code.NotFound, 'User not found'),
  orderKeyTaken: errorRow('ORDER_KEY_TAKEN', Code.AlreadyExists, "This order is another user's"),
  redemptionNotFound: errorRow('REDEMPTION_NOT_FOUND', Code.NotFound, 'Redemption not found'),
  holdExpired: errorRow('HOLD_EXPIRED', Code.FailedPrecondition, 'The hold has run out'),
  redemptionReleased: errorRow('REDEMPTION_RELEASED', Code.FailedPrecondition, 'The redemption was released'),
  secretCodeNotFound: errorRow('SECRET_CODE_NOT_FOUND', Code.NotFound, 'Secret code not found'),
  secretCodeClaimed: errorRow(
    'SECRET_CODE_CLAIMED',
    Code.FailedPrecondition,
    'Secret code was claimed by another user',
  ),
  secretCodeExpired: errorRow('SECRET_CODE_EXPIRED', Code.FailedPrecondition, 'Secret code has expired'),
  batchNotFound: errorRow('BATCH_NOT_FOUND', Code.NotFound, 'Batch not found'),
};
