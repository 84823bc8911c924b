import { type DescMethod, fromBinary, fromJsonString, type Message } from '@bufbuild/protobuf';
import { invalidRequest } from '../errors/errors.ts';
import type { Codec } from './answers/encoding.ts';
import { findViolations } from './json-violations.ts';
import { checkMessageBounds } from './limits/message-bounds.ts';

/**
 * Decodes the message of a request, without any compression. Throws INVALID_ARGUMENT for one that can't be decoded,
 * and as `checkMessageBounds` does.
 */
export function decodeRequest({ input }: DescMethod, codec: Codec, bytes: Uint8Array): Message {
  checkMessageBounds(codec, input, bytes);
  if (codec === 'json') return decodeJson(input, bytes);
  try {
    return fromBinary(input, bytes);
  } catch (cause) {
    throw invalidRequest(`The request is no ${input.typeName}`, { cause });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Refuses unknown fields (design 7). If the request can't be decoded, the error names the fields at fault. */
function decodeJson(input: DescMethod['input'], bytes: Uint8Array): Message {
  let text = '';
  try {
    text = utf8.decode(bytes);
    return fromJsonString(input, text);
  } catch (cause) {
    const violations = findViolations(input, text);
    const [first] = violations;
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw invalidRequest(first === undefined ? problem : `${first.field}: ${first.description}`, { violations, cause });
  }
}
