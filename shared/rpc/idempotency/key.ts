import { createHash } from 'node:crypto';
import { isMessage, type Message } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { invalidField } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import { procedureName } from '../procedure-path.ts';
import { keyHeader } from './mutation.ts';

/** Reads the key of a mutation. Throws INVALID_ARGUMENT for one that is not 1 to 128 visible ASCII characters (design 9). */
export function readKey(call: CallContext): string | undefined {
  const key = call.header(keyHeader);
  if (key === undefined || /^[\x21-\x7e]{1,128}$/.test(key)) return key;
  throw invalidField(keyHeader, 'must have 1 to 128 visible ASCII characters');
}

/** SHA-256 of a key together with its caller and procedure, for which it is good. */
export function hashKey(key: string, { identity, method }: CallContext): Buffer {
  return sha256(JSON.stringify([identity.subject, procedureName(method), key]));
}

/**
 * SHA-256 of what a request says, and as which staff user. Equal requests differ neither by the protocol that they came by, nor by
 * the order of a map or of a list of ids.
 */
export function hashRequest(request: Message, staffId: number | undefined): Buffer {
  return sha256(`${staffId ?? ''} ${canonical(request)}`);
}

/** A text that two decoded values have in common only if they are equal. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if (Array.isArray(value)) {
    const isOfIds = typeof value[0] === 'number';
    return `[${(isOfIds ? value.toSorted((left, right) => left - right) : value).map(canonical).join()}]`;
  }
  // A delivery sequence may have 100,000 of them.
  if (isMessage(value, ValueSchema)) {
    // As a value, null is the number of an enum.
    return value.kind.case === 'nullValue' ? 'null' : canonical(value.kind.value);
  }
  // A map may have names with a dollar sign, too, but messages as their values.
  const isOfMessage = isMessage(value);
  const names = Object.keys(value).filter((name) => !(isOfMessage && name.startsWith('$')));
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(Reflect.get(value, name))}`)
    .join()}}`;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();
