import { type Queryable, statement } from '../../../shared/db/database.ts';

const requestStoreRefreshRow = statement<{ id: string }>(
  'requestStoreRefresh',
  'insert into store_refresh_requests default values returning pg_current_xact_id()::text as id',
);

/**
 * Appends a request for a store refresh in the transaction of the write that asks for it, so that a
 * committed write can't lose its refresh (design 4).
 *
 * @returns what the caller gets as the header `store-request-id`: the transaction's id, because the
 * stores know which transactions they have seen, whatever the order of their commits.
 */
export async function requestStoreRefresh(tx: Queryable): Promise<string> {
  const [request] = await tx.query(requestStoreRefreshRow);
  if (request === undefined) throw new Error('the refresh request was not stored');
  return request.id;
}
