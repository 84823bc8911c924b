import type { Interceptor } from '../interceptor.ts';
import { compileIdSets } from './id-sets.ts';
import { createRequestCheck } from './request-rules.ts';

/** Deduplicates the lists of ids, then checks the request against the rules of its .proto file. */
export const validation: Interceptor = function validation({ method }, next) {
  const deduplicateIds = compileIdSets(method.input);
  const check = createRequestCheck(method.input);
  return (call) => {
    deduplicateIds?.(call.request);
    check(call.request);
    return next(call);
  };
};
