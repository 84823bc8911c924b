import type { DescMessage } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Database } from '../../db/database.ts';
import { tookTooLong } from '../../db/errors.ts';
import { statement } from '../../db/statement.ts';
import { commonErrors, fail } from '../../errors/errors.ts';
import { EncodedResponse, type RpcResponse } from '../answers/response.ts';
import type { CallContext } from '../call-context.ts';
import type { Execute, Rpc } from '../implementation.ts';
import { hashKey, hashRequest, readKey } from './key.ts';

const storeRequestHeader = 'store-request-id';

/**
 * Makes mutations safe to retry: a call with an `idempotency-key` is executed once (design 9).
 *
 * It runs in a transaction whose last statement stores the answer. That statement
 * waits for a concurrent call with the same key. If the other call commits, the statement fails and rolls the mutation
 * back. A call that fails or is refused returns the answer that another call has stored, if there is one.
 *
 * Throws INVALID_ARGUMENT IDEMPOTENCY_KEY_REUSED for a key that came with another request before.
 */
export function idempotency(database: Database) {
  return function idempotency({ method: { output } }: Rpc, next: Execute<RpcResponse>): Execute<RpcResponse> {
    return (call) => executeOnce(output, next, call);
  };

  async function executeOnce(output: DescMessage, next: Execute<RpcResponse>, call: CallContext): Promise<RpcResponse> {
    const key = readKey(call);
    if (key === undefined) return next(call);
    const id = hashKey(key, call);
    call.keyId = id;
    const keyed = { id, request: hashRequest(call.request, await call.staffId()) };
    let hasConnection = false;
    try {
      const answer = await database.transaction(
        call,
        async (tx) => {
          hasConnection = true;
          call.transaction = tx;
          const response = await next(call);
          if (call.refusal !== undefined) throw new Refused(response);
          // Not in line behind the caller's long answers, because the transaction holds locks.
          return response.toBinary({ signal: call.signal });
        },
        {
          last: (bytes) =>
            storeAnswer({ ...keyed, answer: bytes, storeRequestId: call.responseHeaders.get(storeRequestHeader) }),
        },
      );
      await call.endTransaction(true);
      // In the form that a replay has, too.
      return new EncodedResponse(output, 'proto', answer);
    } catch (error) {
      call.responseHeaders.delete(storeRequestHeader);
      // A caller that may not call the procedure must not get a stored answer either.
      const isUnauthenticated = error instanceof ConnectError && error.code === Code.Unauthenticated;
      const isOwn = !hasConnection || isUnauthenticated || call.signal.aborted;
      try {
        return isOwn ? refusedBy(error) : await answerOfOther(output, call, keyed, error).catch(refusedBy);
      } finally {
        await call.endTransaction(false);
      }
    }
  }

  /**
   * Resolves with the answer that another call has stored for the key. If there is none, throws `error`, the
   * reason why this call failed.
   */
  async function answerOfOther(output: DescMessage, call: CallContext, keyed: KeyedRequest, error: unknown) {
    const { answer, storeRequestId } = await database.transaction(call, async (tx) => {
      // A statement that timed out has already waited for the other call.
      const waiting = tookTooLong(error) ? [] : tx.query(awaitKey(keyed));
      const [own, [stored]] = await Promise.all([waiting, tx.query(findAnswer(keyed))]);
      // No other call has stored an answer. Throwing rolls back this call's row.
      if (own.length > 0 || stored === undefined) throw error;
      if (!stored.request.equals(keyed.request)) throw fail(commonErrors.idempotencyKeyReused);
      return stored;
    });
    call.isReplayed = true;
    call.responseHeaders.set('idempotent-replayed', 'true');
    if (storeRequestId !== null) call.responseHeaders.set(storeRequestHeader, storeRequestId);
    return new EncodedResponse(output, 'proto', answer);
  }
}

/** Rolls back the transaction of a call whose answer is not stored. */
class Refused extends Error {
  readonly response: RpcResponse;

  constructor(response: RpcResponse) {
    super('the answer refuses what was asked');
    this.response = response;
  }
}

/** Returns the answer of a call that was refused. Throws any other error. */
function refusedBy(error: unknown): RpcResponse {
  if (error instanceof Refused) return error.response;
  throw error;
}

interface KeyedRequest {
  readonly id: Buffer;
  /** The hash of the request. */
  readonly request: Buffer;
}

// Waits for a concurrent call with the same key to end, and fails if that call has committed.
const storeAnswer = statement<never, KeyedRequest & { answer: Buffer; storeRequestId: string | undefined }>(
  'storeAnswer',
  `insert into idempotency_keys (id, request, answer, store_request_id)
   values ($id, $request, $answer, $storeRequestId)`,
);

// Inserts a row only to wait for a concurrent call with the same key. Returns the row if no such call has committed.
const awaitKey = statement<{ id: Buffer }, KeyedRequest>(
  'awaitKey',
  `insert into idempotency_keys (id, request, answer) values ($id, $request, '') on conflict do nothing returning id`,
);

// After its caller has given up, a commit no longer waits for a synchronous standby, but becomes visible. The row lock
// makes this transaction wait for the standby, so that no replay acknowledges a write that a failover could lose.
const findAnswer = statement<{ request: Buffer; answer: Buffer; storeRequestId: string | null }, { id: Buffer }>(
  'findAnswer',
  'select request, answer, store_request_id as "storeRequestId" from idempotency_keys where id = $id for key share',
);
