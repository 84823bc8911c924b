import { readKey } from '../idempotency/key.ts';
import type { Interceptor } from '../interceptor.ts';
import { isMutation } from '../procedure.ts';
import { compileIdSets } from './id-sets.ts';
import { checkRules } from './request-rules.ts';

/** Deduplicates the id lists, then validates the request against its .proto file and reads the idempotency key. */
export const validation: Interceptor = function validation({ method }, next) {
  const deduplicateIds = compileIdSets(method.input);
  const mayHaveKey = isMutation(method);
  return async (call) => {
    deduplicateIds?.(call.request);
    checkRules(method.input, call.request);
    if (mayHaveKey) readKey(call); // throws for a malformed key
    return next(call);
  };
};
