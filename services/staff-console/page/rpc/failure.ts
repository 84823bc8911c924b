import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorInfoSchema } from '../../../../shared/gen/google/rpc/error_details_pb.ts';
import { isTransient, reasonOf, violationsOf } from '../../../client/connect/errors.ts';

/** Describes in words for staff why a call has failed. */
export interface Failure {
  readonly reason: string;
  readonly code: Code;
  /** What happened. */
  readonly title: string;
  /** What to do about it. */
  readonly advice: string;
  /** Problems of single fields, by the field's name in the API: `couponCode`, or `vendorSnippets[1].name` in a list. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Whether a call was refused because it is for staff only. */
export function isForStaff(error: unknown): boolean {
  return ['ACCESS_DENIED', 'UNAUTHORIZED'].includes(reasonOf(error));
}

/** Describes why a call has failed. */
export function describeFailure(thrown: unknown): Failure {
  const error = ConnectError.from(thrown);
  const [info] = error.findDetails(ErrorInfoSchema);
  const reason = reasonOf(error);
  const fields = Object.fromEntries(violationsOf(error).map(({ field, description }) => [nameOf(field), description]));
  const field = fieldOfReason[reason];
  const message = plainWords[reason] ?? sentence(info?.metadata.causeMessage || error.rawMessage);
  if (field !== undefined) fields[field] ??= message;
  return { reason, code: error.code, fields, ...wordsFor(error, reason, message) };
}

/** The fields that show errors which name no field themselves, by the error's reason. */
const fieldOfReason: Readonly<Record<string, string>> = {
  COUPON_CODE_TAKEN: 'couponCode',
  SECRET_CODE_TAKEN: 'couponCode',
  APPLICABLE_USERS_OR_ALL_REQUIRED: 'applicableUsers',
  APPLICABLE_USERS_REQUIRED: 'applicableUsers',
  APPLICABLE_USERS_NOT_FOUND: 'applicableUsers',
  APPLICABLE_PRODUCTS_NOT_FOUND: 'applicableProducts',
  ONE_DISCOUNT_REQUIRED: 'discount',
  TWO_DISCOUNTS: 'discount',
  SNIPPET_NAME_TAKEN: 'name',
  SNIPPET_PRODUCTS_INVALID: 'productIds',
  MOBILE_NOT_TEN_DIGITS: 'mobile',
  ORDER_KEY_TAKEN: 'orderKey',
  ORDER_NOT_FOUND: 'orderId',
  ORDER_USER_NOT_FOUND: 'orderId',
};

/** What the service says in the words of its API, in those of its forms. */
const plainWords: Readonly<Record<string, string>> = {
  APPLICABLE_USERS_OR_ALL_REQUIRED: 'Choose at least one user.',
  APPLICABLE_USERS_REQUIRED: 'Choose at least one user.',
  ONE_DISCOUNT_REQUIRED: 'Enter a discount, in percent or as an amount.',
};

function wordsFor(error: ConnectError, reason: string, message: string): Pick<Failure, 'title' | 'advice'> {
  // The banner at the top of the page gives the advice (session-banner.tsx).
  if (isForStaff(error)) return { title: 'Only staff can see or do this', advice: '' };
  if (error.code === Code.Canceled) {
    return { title: 'You have stopped waiting', advice: 'Try again: what has arrived already is not done twice.' };
  }
  if (isTransient(error)) {
    const title = reason === 'OVERLOADED' ? 'The service is very busy' : 'The service can’t be reached';
    return { title, advice: 'Nothing is lost. Try again in a moment: what has arrived already is not done twice.' };
  }
  if (reason.startsWith('SECRET_CODE_') && error.code === Code.FailedPrecondition) {
    return { title: message, advice: 'Nothing can be claimed any more.' };
  }
  switch (error.code) {
    case Code.InvalidArgument:
    case Code.AlreadyExists:
    case Code.FailedPrecondition:
      return { title: message, advice: 'Correct it, and try again.' };
    case Code.NotFound:
      return { title: message, advice: 'It may have another number, or never have existed.' };
    case Code.Unauthenticated:
      return { title: 'You are signed out', advice: 'Sign in again to go on.' };
    case Code.Aborted:
      return { title: message, advice: 'Look at what has changed, and try again.' };
    case Code.ResourceExhausted:
      return { title: message, advice: 'Wait a moment, and try again.' };
    default:
      return { title: 'Something went wrong in the service', advice: 'Try again. If it stays, tell an administrator.' };
  }
}

/** Turns `updates.coupon.coupon_code` into `couponCode`, `vendor_snippets[1].name` into `vendorSnippets[1].name`. */
function nameOf(field: string): string {
  const parts = field.replace(/\[\d+\]$/, '').split('.');
  const inList = parts.findIndex((part) => part.endsWith(']'));
  const name = parts.slice(inList === -1 ? -1 : inList).join('.');
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}
