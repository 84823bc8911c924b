import { commonErrors, fail } from '../../errors/errors.ts';
import { FairQueue } from '../../fairness/fair-queue.ts';
import type { RpcResponse } from '../answers/response.ts';
import type { CallContext } from '../call-context.ts';
import type { Execute, Rpc } from '../implementation.ts';

/**
 * How many calls of this replica may at once have a connection to wait for the lock of one record. More would make none
 * of them faster: one holds the lock, the next one waits for it in the database, and the others are on their way.
 */
const turnsOfRecord = 4;

/**
 * Has calls that lock the same record take turns before they borrow a connection, so that they don't hold all
 * connections while they wait for one another (design 15). A call that waits gives its permit back meanwhile.
 *
 * Throws RESOURCE_EXHAUSTED OVERLOADED if a call without a deadline gets no turn within 10 s.
 */
export function turns() {
  const queues = new Map<string, FairQueue>();

  return function turns({ lockedBy }: Rpc, next: Execute<RpcResponse>): Execute<RpcResponse> {
    if (lockedBy === undefined) return next;
    return async (call) => {
      // All calls take their turns in one order, so that no two wait for one another.
      const records = [...new Set(await lockedBy(call))].sort();
      const inTurn = records.reduceRight<Execute<RpcResponse>>(
        (inner, record) => (held) => inTurnOf(record, held, inner),
        next,
      );
      return inTurn(call);
    };
  };

  async function inTurnOf(record: string, call: CallContext, next: Execute<RpcResponse>): Promise<RpcResponse> {
    const queue = queues.get(record) ?? new FairQueue(turnsOfRecord);
    queues.set(record, queue);
    try {
      if (!queue.tryTake(call.subject)) await untilTurn(queue, call);
      try {
        return await next(call);
      } finally {
        queue.release(call.subject);
      }
    } finally {
      if (queue.taken === 0 && queue.waiting === 0) queues.delete(record);
    }
  }
}

async function untilTurn(queue: FairQueue, call: CallContext): Promise<void> {
  call.releasePermit();
  if (!(await queue.take(call))) throw fail(commonErrors.overloaded);
  try {
    await call.takePermit();
  } catch (error) {
    queue.release(call.subject);
    throw error;
  }
}
