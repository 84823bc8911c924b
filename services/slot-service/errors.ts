import { Code } from '@connectrpc/connect';
import type { ErrorRow } from '../../shared/errors/errors.ts';

/** All errors of the slot procedures (spec 7, design 3). */
export const slotErrors = {
  timesRequired: {
    reason: 'TIMES_REQUIRED',
    code: Code.InvalidArgument,
    message: 'Delivery time and orders close time are required',
  },
  snippetProductsInvalid: {
    reason: 'SNIPPET_PRODUCTS_INVALID',
    code: Code.InvalidArgument,
    message: 'One or more invalid product IDs in snippet "<name>"',
  },
  snippetNameTaken: {
    reason: 'SNIPPET_NAME_TAKEN',
    code: Code.AlreadyExists,
    message: 'Snippet name "<name>" already exists',
  },
  slotNotFound: { reason: 'SLOT_NOT_FOUND', code: Code.NotFound, message: 'Slot not found' },
  slotTaken: { reason: 'SLOT_TAKEN', code: Code.AlreadyExists, message: 'A slot at this time exists already' },
  storeRequestLost: {
    reason: 'STORE_REQUEST_LOST',
    code: Code.Aborted,
    message: 'The database does not know the write of this store-request-id',
  },
  slotNotUpdated: { reason: 'SLOT_NOT_UPDATED', code: Code.FailedPrecondition, message: 'Unable to Update Slot' },
} as const satisfies Record<string, ErrorRow>;
