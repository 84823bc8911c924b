import { type DescMethod, fromBinary, fromJsonString, type Message } from '@bufbuild/protobuf';
import { invalidRequest } from '../errors/errors.ts';
import type { Codec } from './answers/response.ts';
import { findViolations } from './json-violations.ts';
import { checkMessageBounds } from './limits/message-bounds.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes the message of a request. Throws as `checkMessageBounds` does, and INVALID_ARGUMENT for what can't be decoded,
 * of JSON with the fields at fault. Refuses unknown fields in JSON (design 7).
 */
export function decodeRequest({ input }: DescMethod, codec: Codec, bytes: Uint8Array): Message {
  checkMessageBounds(codec, input, bytes);
  let text = '';
  try {
    if (codec === 'proto') return fromBinary(input, bytes);
    text = utf8.decode(bytes);
    return fromJsonString(input, text);
  } catch (cause) {
    if (codec === 'proto') throw invalidRequest(`The request is no ${input.typeName}`, { cause });
    const violations = findViolations(input, text);
    const [first] = violations;
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw invalidRequest(first === undefined ? problem : `${first.field}: ${first.description}`, { violations, cause });
  }
}
