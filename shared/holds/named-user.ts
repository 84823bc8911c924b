import { invalidField } from '../errors/errors.ts';

/** The fields of a request that name a user (design 14). An id of 0 and an empty external id are none. */
interface NamesUser {
  readonly userId?: number | undefined;
  readonly userExternalId: string;
}

/** Returns the parameters of `namedUser`. Throws INVALID_ARGUMENT if the request names a user in both ways. */
export function readUserIfGiven({ userId, userExternalId }: NamesUser) {
  if (userId && userExternalId !== '') throw invalidField('user_external_id', 'must not be given beside user_id');
  return { userId: userId || undefined, userExternalId: userExternalId || undefined };
}

/** Returns the parameters of `namedUser`. Throws INVALID_ARGUMENT if the request names a user in both ways or in none. */
export function readUser(request: NamesUser) {
  if (!request.userId && request.userExternalId === '') throw invalidField('user_id', 'value is required');
  return readUserIfGiven(request);
}

/** The parameters of `namedUser`. */
export type NamedUser = ReturnType<typeof readUser>;

/** SQL of the id of the user that a request names, with the parameters of `readUser`; null if there is no such user. */
export const namedUser = `(
     select id from users where id = $userId::integer
     union all select id from users where external_id = $userExternalId::text
   )`;
