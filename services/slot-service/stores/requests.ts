/**
 * A request for a store refresh is a row appended in the transaction of the write that asks for it,
 * so that a committed write can't lose its refresh (design 4). It is known by that transaction's id,
 * because the stores know which transactions they have seen, whatever the order of their commits.
 */

/** The column of a write's statement that gives the header `store-request-id`. */
export const storeRequestId = 'pg_current_xact_id()::text as "storeRequestId"';

/** A common table expression that appends the request when the expression `changed` has a row. */
export function requestForEach(changed: string): string {
  return `request as (insert into store_refresh_requests (requested_at) select now() from ${changed})`;
}
