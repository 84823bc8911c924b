import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Database } from '../../db/database.ts';
import { databaseErrors, isKeyTaken } from '../../db/errors.ts';
import { statement } from '../../db/statement.ts';
import { commonErrors, fail } from '../../errors/errors.ts';
import type { CallContext } from '../call-context.ts';
import type { Implementation, Rpc } from '../implementation.ts';
import { encodeBinary } from '../protobuf/encoding.ts';
import { hashKey, hashRequest, isMutation } from './key.ts';
import { StoredAnswer } from './stored-answer.ts';

const storeRequestHeader = 'store-request-id';

/** Makes the mutations of a service safe to retry: one that carries an `idempotency-key` is executed once (design 9). */
export function withIdempotency({ service, rpcs }: Implementation, database: Database): Implementation {
  return { service, rpcs: rpcs.map((rpc) => (isMutation(rpc.method) ? executeOnce(rpc, database) : rpc)) };
}

/**
 * Wraps a mutation. One with a key runs in a transaction that claims the key first and stores the answer last. The
 * claim of a key that is taken fails, and with it all that the mutation has sent behind it.
 *
 * Throws INVALID_ARGUMENT IDEMPOTENCY_KEY_REUSED for a key that came with another request.
 */
function executeOnce(rpc: Rpc, database: Database): Rpc {
  const { output } = rpc.method;

  async function invoke(request: Message, call: CallContext) {
    if (call.idempotencyKey === undefined) return rpc.invoke(request, call);
    const id = hashKey(call.idempotencyKey, call);
    // The staff user is looked up before the transaction, in which all fails that comes behind a claim that fails.
    const requestHash = hashRequest(request, await call.staffId());
    let isTaken = false;
    try {
      const answer = await database.transaction(
        call,
        async (tx) => {
          const claiming = tx.query(claimKey({ id, request: requestHash })).catch((error: unknown) => {
            isTaken = isKeyTaken(error);
            throw error;
          });
          // A lost race must not undo the claim: each statement of the procedure can be undone for itself.
          call.transaction = { ...tx, query: (statement) => tx.batch([], statement) };
          const [claimed, executed] = await Promise.allSettled([claiming, rpc.invoke(request, call)]);
          // What comes behind a claim that failed has failed for that.
          if (claimed.status === 'rejected' && !isTaken) throw claimed.reason;
          if (executed.status === 'rejected') throw executed.reason;
          if (claimed.status === 'rejected') throw claimed.reason;
          return new StoredAnswer(output, await encodeBinary(output, executed.value, call));
        },
        {
          last: ({ bytes }) =>
            storeAnswer({ id, answer: bytes, storeRequestId: call.responseHeaders.get(storeRequestHeader) }),
        },
      );
      call.endTransaction(true);
      return answer;
    } catch (error) {
      call.endTransaction(false);
      call.responseHeaders.delete(storeRequestHeader);
      // Who may not call the procedure gets no answer of it either.
      const isRefused = error instanceof ConnectError && error.code === Code.Unauthenticated;
      if (!isTaken || isRefused) throw error;
    }
    return replay(call, id, requestHash);
  }

  async function replay(call: CallContext, id: Buffer, requestHash: Buffer): Promise<StoredAnswer> {
    const [stored] = await database.for(call).query(findAnswer({ id }));
    // Its time has passed since the claim.
    if (stored === undefined) throw fail(databaseErrors.conflict);
    if (!stored.request.equals(requestHash)) throw fail(commonErrors.idempotencyKeyReused);
    call.responseHeaders.set('idempotent-replayed', 'true');
    if (stored.storeRequestId !== null) call.responseHeaders.set(storeRequestHeader, stored.storeRequestId);
    return new StoredAnswer(output, stored.answer);
  }

  return { ...rpc, invoke };
}

// Waits for a concurrent call with the same key to end, and fails when that has committed.
const claimKey = statement<never, { id: Buffer; request: Buffer }>(
  'claimKey',
  'insert into idempotency_keys (id, request) values ($id, $request)',
);

const storeAnswer = statement<never, { id: Buffer; answer: Buffer; storeRequestId: string | undefined }>(
  'storeAnswer',
  'update idempotency_keys set answer = $answer, store_request_id = $storeRequestId where id = $id',
);

const findAnswer = statement<{ request: Buffer; answer: Buffer; storeRequestId: string | null }, { id: Buffer }>(
  'findAnswer',
  'select request, answer, store_request_id as "storeRequestId" from idempotency_keys where id = $id',
);
