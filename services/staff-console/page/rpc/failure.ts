import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorInfoSchema } from '#gen/google/rpc/error_details_pb';
import { isTransient, reasonOf, violationsOf } from '../../../client/connect/errors.ts';
import { words } from '../words.ts';

const text = words.failures;

/** Says in words for staff why a call has failed. */
export interface Failure {
  readonly reason: string;
  readonly code: Code;
  readonly title: string;
  readonly advice: string;
  /** Problems of single fields, by the field's name in the API: `couponCode`, or `vendorSnippets[1].name` in a list. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Whether a call was refused because it is for staff only. */
export const isForStaff = (error: unknown): boolean => ['ACCESS_DENIED', 'UNAUTHORIZED'].includes(reasonOf(error));

/** Describes why a call has failed. */
export function describeFailure(thrown: unknown): Failure {
  const error = ConnectError.from(thrown);
  const [info] = error.findDetails(ErrorInfoSchema);
  const reason = reasonOf(error);
  const fields = Object.fromEntries(violationsOf(error).map(({ field, description }) => [nameOf(field), description]));
  const [field] = Object.entries(reasonsOfFields).find(([, reasons]) => reasons.includes(reason)) ?? [];
  const said = info?.metadata.causeMessage || error.rawMessage;
  const message = plainWords[reason] ?? said.charAt(0).toUpperCase() + said.slice(1);
  if (field !== undefined) fields[field] ??= message;
  return { reason, code: error.code, fields, ...wordsFor(error, reason, message) };
}

/** The reasons of errors that name no field themselves, by the field that shows them. */
const reasonsOfFields = {
  couponCode: ['COUPON_CODE_TAKEN', 'SECRET_CODE_TAKEN'],
  applicableUsers: ['APPLICABLE_USERS_OR_ALL_REQUIRED', 'APPLICABLE_USERS_REQUIRED', 'APPLICABLE_USERS_NOT_FOUND'],
  applicableProducts: ['APPLICABLE_PRODUCTS_NOT_FOUND'],
  discount: ['ONE_DISCOUNT_REQUIRED', 'TWO_DISCOUNTS'],
  name: ['SNIPPET_NAME_TAKEN'],
  productIds: ['SNIPPET_PRODUCTS_INVALID'],
  mobile: ['MOBILE_NOT_TEN_DIGITS'],
  orderKey: ['ORDER_KEY_TAKEN'],
  orderId: ['ORDER_NOT_FOUND', 'ORDER_USER_NOT_FOUND'],
};

/** What the service says in the words of its API, in those of its forms. */
const plainWords: Readonly<Record<string, string>> = {
  APPLICABLE_USERS_OR_ALL_REQUIRED: text.chooseCustomers,
  APPLICABLE_USERS_REQUIRED: text.chooseCustomers,
  ONE_DISCOUNT_REQUIRED: text.enterDiscount,
};

/** What to do about an error that the service describes itself. */
const adviceOf: Partial<Record<Code, string>> = {
  [Code.InvalidArgument]: text.correct,
  [Code.AlreadyExists]: text.correct,
  [Code.FailedPrecondition]: text.correct,
  [Code.NotFound]: text.noSuch,
  [Code.Aborted]: text.lookAgain,
  [Code.ResourceExhausted]: text.wait,
};

function wordsFor(error: ConnectError, reason: string, message: string): Pick<Failure, 'title' | 'advice'> {
  // The banner at the top of the page gives the advice (shell.tsx).
  if (isForStaff(error)) return { title: text.staffOnly, advice: '' };
  if (error.code === Code.Canceled) return { title: text.stopped, advice: text.notTwice };
  if (error.code === Code.Unauthenticated) return { title: text.signedOut, advice: text.signInAgain };
  if (isTransient(error)) {
    return { title: reason === 'OVERLOADED' ? text.busy : text.unreachable, advice: text.nothingLost };
  }
  const isClaimed = reason.startsWith('SECRET_CODE_') && error.code === Code.FailedPrecondition;
  const advice = isClaimed ? text.claimed : adviceOf[error.code];
  return advice === undefined ? { title: text.broken, advice: text.tell } : { title: message, advice };
}

/** Turns `updates.coupon.coupon_code` into `couponCode`, `vendor_snippets[1].name` into `vendorSnippets[1].name`. */
function nameOf(field: string): string {
  const parts = field.replace(/\[\d+\]$/, '').split('.');
  const inList = parts.findIndex((part) => part.endsWith(']'));
  const name = parts.slice(inList === -1 ? -1 : inList).join('.');
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
