import { Code } from '@connectrpc/connect';
import type { ErrorRow } from '../../shared/errors/errors.ts';

/** All errors of the coupon procedures (spec 4.2, design 3 and 13). */
export const couponErrors = {
  unauthorized: { reason: 'UNAUTHORIZED', code: Code.Unauthenticated, message: 'Unauthorized' },
  oneDiscountRequired: {
    reason: 'ONE_DISCOUNT_REQUIRED',
    code: Code.InvalidArgument,
    message: 'Either discountPercent or flatDiscount must be provided (but not both)',
  },
  twoDiscounts: {
    reason: 'TWO_DISCOUNTS',
    code: Code.InvalidArgument,
    message: 'Cannot have both discountPercent and flatDiscount',
  },
  usersOrAllRequired: {
    reason: 'APPLICABLE_USERS_OR_ALL_REQUIRED',
    code: Code.InvalidArgument,
    message: 'applicableUsers is required for user-based coupons (or set isApplyForAll to true)',
  },
  usersRequired: {
    reason: 'APPLICABLE_USERS_REQUIRED',
    code: Code.InvalidArgument,
    message: 'applicableUsers is required for user-based coupons',
  },
  userBasedAndForAll: {
    reason: 'USER_BASED_AND_FOR_ALL',
    code: Code.InvalidArgument,
    message: 'Cannot be both user-based and apply for all users',
  },
  usersNotFound: {
    reason: 'APPLICABLE_USERS_NOT_FOUND',
    code: Code.InvalidArgument,
    message: 'Some applicable users not found',
  },
  productsNotFound: {
    reason: 'APPLICABLE_PRODUCTS_NOT_FOUND',
    code: Code.InvalidArgument,
    message: 'Some applicable products not found',
  },
  couponNotFound: { reason: 'COUPON_NOT_FOUND', code: Code.NotFound, message: 'Coupon not found' },
  couponCodeTaken: { reason: 'COUPON_CODE_TAKEN', code: Code.AlreadyExists, message: 'Coupon code already exists' },
  secretCodeTaken: { reason: 'SECRET_CODE_TAKEN', code: Code.AlreadyExists, message: 'Secret code already exists' },
  generatedCodeTaken: {
    reason: 'GENERATED_CODE_TAKEN',
    code: Code.AlreadyExists,
    message: 'Generated coupon code already exists - please try again',
  },
  orderNotFound: { reason: 'ORDER_NOT_FOUND', code: Code.NotFound, message: 'Order not found' },
  orderUserNotFound: { reason: 'ORDER_USER_NOT_FOUND', code: Code.NotFound, message: 'User not found for this order' },
  orderTotalInvalid: {
    reason: 'ORDER_TOTAL_INVALID',
    code: Code.FailedPrecondition,
    message: 'The total of this order is no amount of 0 or more',
  },
  mobileNotTenDigits: {
    reason: 'MOBILE_NOT_TEN_DIGITS',
    code: Code.InvalidArgument,
    message: 'Mobile number must be exactly 10 digits',
  },
  tooManyMisses: {
    reason: 'TOO_MANY_MISSES',
    code: Code.ResourceExhausted,
    message: 'Too many coupon codes were not found - please try again later',
  },
  userNotFound: { reason: 'USER_NOT_FOUND', code: Code.NotFound, message: 'User not found' },
  orderKeyTaken: { reason: 'ORDER_KEY_TAKEN', code: Code.AlreadyExists, message: "This order is another user's" },
  redemptionNotFound: { reason: 'REDEMPTION_NOT_FOUND', code: Code.NotFound, message: 'Redemption not found' },
  holdExpired: { reason: 'HOLD_EXPIRED', code: Code.FailedPrecondition, message: 'The hold has run out' },
  redemptionReleased: {
    reason: 'REDEMPTION_RELEASED',
    code: Code.FailedPrecondition,
    message: 'The redemption was released',
  },
  secretCodeNotFound: { reason: 'SECRET_CODE_NOT_FOUND', code: Code.NotFound, message: 'Secret code not found' },
  secretCodeClaimed: {
    reason: 'SECRET_CODE_CLAIMED',
    code: Code.FailedPrecondition,
    message: 'Secret code was claimed by another user',
  },
  secretCodeExpired: {
    reason: 'SECRET_CODE_EXPIRED',
    code: Code.FailedPrecondition,
    message: 'Secret code has expired',
  },
  batchNotFound: { reason: 'BATCH_NOT_FOUND', code: Code.NotFound, message: 'Batch not found' },
} as const satisfies Record<string, ErrorRow>;
