import { createHash } from 'node:crypto';
import { isMessage, type Message } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { statement } from '../../db/statement.ts';
import { invalidField } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import { keyHeader, procedureName } from '../procedure.ts';

/**
 * Reads the idempotency key of a call; undefined if it has none. Throws INVALID_ARGUMENT unless the key has 1 to 128
 * visible ASCII characters (design 9).
 */
export function readKey(call: CallContext): string | undefined {
  const key = call.header(keyHeader);
  if (key === undefined || /^[\x21-\x7e]{1,128}$/.test(key)) return key;
  throw invalidField(keyHeader, 'must have 1 to 128 visible ASCII characters');
}

/** Returns the SHA-256 of a key with its caller and procedure, which are its scope. */
export function hashKey(key: string, { identity, method }: CallContext): Buffer {
  return sha256(JSON.stringify([identity.subject, procedureName(method), key]));
}

/**
 * Returns SQL of a condition on the insert of a new record: false where the record may not be written, true for a new
 * key or none. It raises an error for a key with a stored answer, so that a repeated call draws no id.
 */
export const ifNewKey = (mayWrite: string) =>
  // PostgreSQL would evaluate a mere "and" before it has looked for broken rules.
  `case when ${mayWrite} then $keyId::bytea is null or is_new_key($keyId) else false end`;

/**
 * Fields without presence that requests have got since 1.0.0. An empty one is left out of the hash: a call that began
 * before an upgrade, and is sent again to a newer replica, is the same call.
 */
export const laterFields: ReadonlySet<string> = new Set(['orderExternalId', 'userExternalId', 'lines']);

/**
 * Returns the SHA-256 of a request and the staff user that it acts as. The protocol, the order of map entries and the
 * order of id lists do not affect it.
 */
export function hashRequest(request: Message, staffId: number | undefined): Buffer {
  return sha256(`${staffId ?? ''} ${canonical(request)}`);
}

/** Serialises a decoded value, so that two values have the same text only if they are equal. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if (Array.isArray(value)) {
    const isOfIds = typeof value[0] === 'number';
    return `[${(isOfIds ? value.toSorted((left, right) => left - right) : value).map(canonical).join()}]`;
  }
  // Handled first for speed: a delivery sequence may contain 100,000 of these.
  if (isMessage(value, ValueSchema)) {
    // A null value is represented by an enum number.
    return value.kind.case === 'nullValue' ? 'null' : canonical(value.kind.value);
  }
  const isOfMessage = isMessage(value);
  // The keys of a map may begin with a dollar sign. In a message, such keys are internal.
  const isLeftOut = (name: string) =>
    isOfMessage && (name.startsWith('$') || (laterFields.has(name) && isEmpty(Reflect.get(value, name))));
  const names = Object.keys(value).filter((name) => !isLeftOut(name));
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(Reflect.get(value, name))}`)
    .join()}}`;
}

const isEmpty = (field: unknown) => field === '' || (Array.isArray(field) && field.length === 0);

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Deletes keys older than `hours`, oldest first (design 9). Returns the number of deleted keys. */
export const sweepKeys = statement<{ swept: number }, { hours: number; most: number }>(
  'sweepKeys',
  `with oldest as (
     select id from idempotency_keys where created_at < now() - $hours::integer * interval '1 hour'
     order by created_at limit $most::integer for update skip locked
   ),
   swept as (delete from idempotency_keys using oldest where idempotency_keys.id = oldest.id returning 1)
   select count(*)::integer as swept from swept`,
);
