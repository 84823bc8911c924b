import { createHash } from 'node:crypto';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { invalidField } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import { procedureName } from '../procedure-path.ts';

export const keyHeader = 'idempotency-key';

/** Whether a procedure writes. Queries are NO_SIDE_EFFECTS in the .proto files, and ignore keys. */
export function isMutation({ idempotency }: DescMethod): boolean {
  return idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

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

/** SHA-256 of what a request says, whatever protocol it came by: equal ones differ neither by form nor by the order of a map. */
export function hashRequest(request: Message): Buffer {
  return sha256(JSON.stringify(request, canonical));
}

/** As a replacer of JSON.stringify: the fields that the .proto files know, in an order of their own. */
function canonical(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  // A map may have names with a dollar sign, too, but messages as their values.
  const isMessage = typeof Reflect.get(value, '$typeName') === 'string';
  const fields = Object.entries(value).filter(([name]) => !(isMessage && name.startsWith('$')));
  return Object.fromEntries(fields.sort(([left], [right]) => (left < right ? -1 : 1)));
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();
