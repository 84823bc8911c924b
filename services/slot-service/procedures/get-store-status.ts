import { onlyRow, statement } from '../../../shared/db/statement.ts';
import type { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { StoreParts } from '../parts.ts';
import { pendingRequests } from '../stores/requests.ts';

/**
 * Design 4, GetStoreStatus: returns the version that this replica serves, and the number of pending refresh requests.
 */
export function getStoreStatus({
  database,
  replica,
}: StoreParts): Handler<typeof SlotStoreService.method.getStoreStatus> {
  return async (_request, call) => {
    const { version, refreshedAt } = await replica.read(call);
    const { pendingRequests } = onlyRow(await database.for(call).query(countRequests()));
    return { version, refreshedAt, pendingRequests };
  };
}

const countRequests = statement<{ pendingRequests: number }>(
  'getStoreStatus',
  `select ${pendingRequests} as "pendingRequests"`,
);
