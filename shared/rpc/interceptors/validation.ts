import type { Interceptor } from '../interceptor.ts';
import { compileIdSets } from './id-sets.ts';
import { createRequestCheck } from './request-rules.ts';

/** Takes the lists of ids as sets, then checks the request against the rules of its .proto file. */
export const validation: Interceptor = function validation({ method }, next) {
  const takeIdsAsSets = compileIdSets(method.input);
  const check = createRequestCheck(method.input);
  return (call) => {
    takeIdsAsSets?.(call.request);
    check(call.request);
    return next(call);
  };
};
