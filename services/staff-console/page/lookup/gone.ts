import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';

// Users and products that were deleted stay where a coupon names them: the service gives their id alone (design 14).

interface NamedUser {
  readonly id: number;
  readonly name?: string | undefined;
  readonly mobile: string;
}

/** Whether a user was deleted. */
export const isGone = ({ name, mobile }: NamedUser): boolean => name === undefined && mobile === '';

/** Names a user, with the mobile number if there is one. */
export function describeUser(user: NamedUser): string {
  if (isGone(user)) return words.lookup.deleted(words.lookup.customer(user.id));
  const name = isolate(user.name || words.lookup.unnamed);
  return user.mobile === '' ? name : `${name}, ${user.mobile}`;
}

/** Names a product. */
export function nameOfProduct({ id, name }: { readonly id: number; readonly name: string }): string {
  return name === '' ? words.lookup.deleted(words.lookup.product(id)) : isolate(name);
}
