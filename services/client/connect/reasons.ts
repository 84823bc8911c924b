// Written by test/unit/error-tables.test.ts from the error tables of both services.

/** The reasons of errors, which are stable: branch on them, not on messages. */
export const Reason = {
  /** UNAUTHENTICATED: Authentication required */
  AUTHENTICATION_REQUIRED: 'AUTHENTICATION_REQUIRED',
  /** UNAUTHENTICATED: Access denied */
  ACCESS_DENIED: 'ACCESS_DENIED',
  /** UNAVAILABLE: The identity provider is unavailable */
  IDENTITY_PROVIDER_UNAVAILABLE: 'IDENTITY_PROVIDER_UNAVAILABLE',
  /** RESOURCE_EXHAUSTED: Too much was stored in this hour - please try again later */
  STORAGE_QUOTA: 'STORAGE_QUOTA',
  /** INVALID_ARGUMENT: <problem> */
  INVALID_REQUEST: 'INVALID_REQUEST',
  /** RESOURCE_EXHAUSTED: The message is larger than 4 MiB */
  MESSAGE_TOO_LARGE: 'MESSAGE_TOO_LARGE',
  /** RESOURCE_EXHAUSTED: The answer is too large - please ask for less */
  ANSWER_TOO_LARGE: 'ANSWER_TOO_LARGE',
  /** RESOURCE_EXHAUSTED: Too many calls at once - please try again later */
  OVERLOADED: 'OVERLOADED',
  /** RESOURCE_EXHAUSTED: Too many streams at once - please try again later */
  TOO_MANY_STREAMS: 'TOO_MANY_STREAMS',
  /** RESOURCE_EXHAUSTED: Too many large requests at once - please try again later */
  TOO_MANY_REQUEST_BYTES: 'TOO_MANY_REQUEST_BYTES',
  /** RESOURCE_EXHAUSTED: Too many large responses are not read - please read them first */
  TOO_MANY_UNREAD_BYTES: 'TOO_MANY_UNREAD_BYTES',
  /** UNIMPLEMENTED: <method> is not implemented */
  UNIMPLEMENTED: 'UNIMPLEMENTED',
  /** ABORTED: The record was changed meanwhile */
  ETAG_MISMATCH: 'ETAG_MISMATCH',
  /** FAILED_PRECONDITION: The position is no longer kept */
  POSITION_LOST: 'POSITION_LOST',
  /** INVALID_ARGUMENT: The idempotency key came with another request before */
  IDEMPOTENCY_KEY_REUSED: 'IDEMPOTENCY_KEY_REUSED',
  /** DEADLINE_EXCEEDED: Deadline exceeded */
  DEADLINE_EXCEEDED: 'DEADLINE_EXCEEDED',
  /** UNAVAILABLE: The service is stopping */
  STOPPING: 'STOPPING',
  /** CANCELED: The call was canceled */
  CANCELED: 'CANCELED',
  /** INTERNAL: Internal error */
  INTERNAL: 'INTERNAL',
  /** UNAVAILABLE: The database is unavailable */
  DATABASE_UNAVAILABLE: 'DATABASE_UNAVAILABLE',
  /** RESOURCE_EXHAUSTED: Too many calls wait for the database */
  DATABASE_POOL_EXHAUSTED: 'DATABASE_POOL_EXHAUSTED',
  /** DEADLINE_EXCEEDED: The database took too long */
  DATABASE_STATEMENT_TIMEOUT: 'DATABASE_STATEMENT_TIMEOUT',
  /** ABORTED: Another change got in the way - please try again */
  CONCURRENT_CHANGE: 'CONCURRENT_CHANGE',
  /** INVALID_ARGUMENT: A value cannot be stored */
  VALUE_NOT_STORABLE: 'VALUE_NOT_STORABLE',
  /** RESOURCE_EXHAUSTED: No id is left for a new record */
  IDS_EXHAUSTED: 'IDS_EXHAUSTED',
  /** FAILED_PRECONDITION: The record has a value that is out of bounds - it has to be mended first */
  RECORD_NOT_SOUND: 'RECORD_NOT_SOUND',
  /** INVALID_ARGUMENT: Delivery time and orders close time are required */
  TIMES_REQUIRED: 'TIMES_REQUIRED',
  /** INVALID_ARGUMENT: One or more invalid product IDs in snippet "<name>" */
  SNIPPET_PRODUCTS_INVALID: 'SNIPPET_PRODUCTS_INVALID',
  /** ALREADY_EXISTS: Snippet name "<name>" already exists */
  SNIPPET_NAME_TAKEN: 'SNIPPET_NAME_TAKEN',
  /** NOT_FOUND: Slot not found */
  SLOT_NOT_FOUND: 'SLOT_NOT_FOUND',
  /** ALREADY_EXISTS: A slot at this time exists already */
  SLOT_TAKEN: 'SLOT_TAKEN',
  /** ABORTED: The database does not know the write of this store-request-id */
  STORE_REQUEST_LOST: 'STORE_REQUEST_LOST',
  /** ALREADY_EXISTS: Mobile number belongs to another user */
  MOBILE_TAKEN: 'MOBILE_TAKEN',
  /** NOT_FOUND: User not found */
  USER_NOT_FOUND: 'USER_NOT_FOUND',
  /** ALREADY_EXISTS: This order is another user's */
  ORDER_KEY_TAKEN: 'ORDER_KEY_TAKEN',
  /** NOT_FOUND: Booking not found */
  BOOKING_NOT_FOUND: 'BOOKING_NOT_FOUND',
  /** FAILED_PRECONDITION: The booking was released */
  BOOKING_RELEASED: 'BOOKING_RELEASED',
  /** FAILED_PRECONDITION: The hold has run out */
  HOLD_EXPIRED: 'HOLD_EXPIRED',
  /** FAILED_PRECONDITION: Unable to Update Slot */
  SLOT_NOT_UPDATED: 'SLOT_NOT_UPDATED',
  /** UNAUTHENTICATED: Unauthorized */
  UNAUTHORIZED: 'UNAUTHORIZED',
  /** INVALID_ARGUMENT: Either discountPercent or flatDiscount must be provided (but not both) */
  ONE_DISCOUNT_REQUIRED: 'ONE_DISCOUNT_REQUIRED',
  /** INVALID_ARGUMENT: Cannot have both discountPercent and flatDiscount */
  TWO_DISCOUNTS: 'TWO_DISCOUNTS',
  /** INVALID_ARGUMENT: applicableUsers is required for user-based coupons (or set isApplyForAll to true) */
  APPLICABLE_USERS_OR_ALL_REQUIRED: 'APPLICABLE_USERS_OR_ALL_REQUIRED',
  /** INVALID_ARGUMENT: applicableUsers is required for user-based coupons */
  APPLICABLE_USERS_REQUIRED: 'APPLICABLE_USERS_REQUIRED',
  /** INVALID_ARGUMENT: Cannot be both user-based and apply for all users */
  USER_BASED_AND_FOR_ALL: 'USER_BASED_AND_FOR_ALL',
  /** INVALID_ARGUMENT: Some applicable users not found */
  APPLICABLE_USERS_NOT_FOUND: 'APPLICABLE_USERS_NOT_FOUND',
  /** INVALID_ARGUMENT: Some applicable products not found */
  APPLICABLE_PRODUCTS_NOT_FOUND: 'APPLICABLE_PRODUCTS_NOT_FOUND',
  /** NOT_FOUND: Coupon not found */
  COUPON_NOT_FOUND: 'COUPON_NOT_FOUND',
  /** ALREADY_EXISTS: Coupon code already exists */
  COUPON_CODE_TAKEN: 'COUPON_CODE_TAKEN',
  /** ALREADY_EXISTS: Secret code already exists */
  SECRET_CODE_TAKEN: 'SECRET_CODE_TAKEN',
  /** ALREADY_EXISTS: Generated coupon code already exists - please try again */
  GENERATED_CODE_TAKEN: 'GENERATED_CODE_TAKEN',
  /** NOT_FOUND: Order not found */
  ORDER_NOT_FOUND: 'ORDER_NOT_FOUND',
  /** NOT_FOUND: User not found for this order */
  ORDER_USER_NOT_FOUND: 'ORDER_USER_NOT_FOUND',
  /** FAILED_PRECONDITION: The total of this order is no amount of 0 or more */
  ORDER_TOTAL_INVALID: 'ORDER_TOTAL_INVALID',
  /** INVALID_ARGUMENT: Mobile number must be exactly 10 digits */
  MOBILE_NOT_TEN_DIGITS: 'MOBILE_NOT_TEN_DIGITS',
  /** RESOURCE_EXHAUSTED: Too many coupon codes were not found - please try again later */
  TOO_MANY_MISSES: 'TOO_MANY_MISSES',
  /** NOT_FOUND: Redemption not found */
  REDEMPTION_NOT_FOUND: 'REDEMPTION_NOT_FOUND',
  /** FAILED_PRECONDITION: The redemption was released */
  REDEMPTION_RELEASED: 'REDEMPTION_RELEASED',
  /** NOT_FOUND: Secret code not found */
  SECRET_CODE_NOT_FOUND: 'SECRET_CODE_NOT_FOUND',
  /** FAILED_PRECONDITION: Secret code was claimed by another user */
  SECRET_CODE_CLAIMED: 'SECRET_CODE_CLAIMED',
  /** FAILED_PRECONDITION: Secret code has expired */
  SECRET_CODE_EXPIRED: 'SECRET_CODE_EXPIRED',
  /** NOT_FOUND: Batch not found */
  BATCH_NOT_FOUND: 'BATCH_NOT_FOUND',
} as const;
