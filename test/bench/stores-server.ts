import { createSlotHandlers, createSlotStoreHandlers } from '../../services/slot-service/handlers.ts';
import { startStoresAndCache } from '../../services/slot-service/service.ts';
import { SequenceCache } from '../../services/slot-service/slots/sequence-cache.ts';
import { appendRefreshRequest, storeRequestIdColumn } from '../../services/slot-service/stores/requests.ts';
import { readConfig } from '../../shared/config/config.ts';
import type { Caller } from '../../shared/db/caller.ts';
import { Database } from '../../shared/db/database.ts';
import type { BoundStatement, Queryable } from '../../shared/db/statement.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { implement } from '../../shared/rpc/implementation.ts';
import { startService } from '../../shared/runtime/start-service.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';

// One server of the benchmark of the stores. `full` is slot-service, but that GetOpenSlots answers
// with an empty message; `bare` writes without a refresh request and without the refresh behind it.

class BareDatabase extends Database {
  override for(caller: Caller): Queryable {
    const db = super.for(caller);
    return {
      ...db,
      query: (given) => db.query(given.name === 'updateSlotCapacity' ? withoutRequest(given) : given),
    };
  }
}

const appendedRequest = appendRefreshRequest('id', 'written');

function withoutRequest<Row>(given: BoundStatement<Row>): BoundStatement<Row> {
  if (!given.text.includes(appendedRequest)) throw new Error('UpdateSlotCapacity appends no refresh request');
  const text = given.text
    .replace(appendedRequest, 'request as (select)')
    .replace(storeRequestIdColumn, `'' as "storeRequestId"`);
  return { ...given, name: 'bareUpdate', text };
}

const kind = process.argv[2];
const config = readConfig('slot', process.env);
const logger = createLogger('bench', 'warn');
const service = await startService(config, logger, async (parts) => {
  const { appUrl } = config;
  if (kind === 'bare') {
    const database = new BareDatabase(config.database, logger);
    const sequences = new SequenceCache();
    return [
      implement(SlotService, createSlotHandlers({ sequences, appUrl, database, requestRefresh: () => undefined })),
    ];
  }
  const { sequences, replica, requestRefresh } = await startStoresAndCache(parts);
  const { database } = parts;
  const stores = createSlotStoreHandlers({ database, replica });
  return [
    implement(SlotService, createSlotHandlers({ sequences, appUrl, database, requestRefresh })),
    implement(SlotStoreService, { ...stores, getOpenSlots: async () => ({ slots: [], version: 0 }) }),
  ];
});
process.send?.(service.grpcPort);
