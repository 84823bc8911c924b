import { isolate } from '../ui/text.ts';

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
  if (isGone(user)) return `User ${user.id} (deleted)`;
  const name = isolate(user.name || 'Unknown');
  return user.mobile === '' ? name : `${name}, ${user.mobile}`;
}

/** Names a product. */
export function nameOfProduct({ id, name }: { readonly id: number; readonly name: string }): string {
  return name === '' ? `Product ${id} (deleted)` : isolate(name);
}
