import { commonErrors, fail } from '../../errors/errors.ts';
import { FairQueue } from '../../fairness/fair-queue.ts';
import type { RpcResponse } from '../answers/response.ts';
import type { CallContext } from '../call-context.ts';
import type { Execute, Rpc } from '../implementation.ts';

/**
 * How many calls of this replica may at once have a connection to wait for the same lock. More would make none of them
 * faster: one holds the lock, the next one waits for it in the database, and the others are on their way.
 */
const turnsAtLock = 4;

/**
 * Has calls that need the same lock take turns before they borrow a connection, so that they don't hold all connections
 * while they wait for one another (design 15). A call that waits gives its permit back meanwhile.
 *
 * Throws RESOURCE_EXHAUSTED OVERLOADED if a call without a deadline gets no turn within 10 s.
 */
export function turns() {
  const queues = new Map<string, FairQueue>();

  return function turns({ lockOf }: Rpc, next: Execute<RpcResponse>): Execute<RpcResponse> {
    if (lockOf === undefined) return next;
    return async (call) => {
      const lock = await lockOf(call);
      return lock === undefined ? next(call) : inTurn(lock, call, next);
    };
  };

  async function inTurn(lock: string, call: CallContext, next: Execute<RpcResponse>): Promise<RpcResponse> {
    const queue = queues.get(lock) ?? new FairQueue(turnsAtLock);
    queues.set(lock, queue);
    try {
      if (!queue.tryTake(call.subject)) {
        call.releasePermit();
        if (!(await queue.take(call))) throw fail(commonErrors.overloaded);
      }
      try {
        await call.takePermit();
        return await next(call);
      } finally {
        queue.release(call.subject);
      }
    } finally {
      if (queue.taken === 0 && queue.waiting === 0) queues.delete(lock);
    }
  }
}
