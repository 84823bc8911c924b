import type { Logger } from 'pino';
import type { ServiceConfig } from '../../shared/config/config.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { implement } from '../../shared/rpc/implementation.ts';
import { type RunningService, type ServiceParts, startService } from '../../shared/runtime/start-service.ts';
import { slotErrors } from './errors.ts';
import { createSlotHandlers } from './handlers.ts';
import { SequenceCache } from './sequence.ts';
import { createStoreHandlers } from './stores/handlers.ts';
import { startStores } from './stores/stores.ts';

/** Starts slot-service on its two ports (design 1). Rejects as `startService` does. */
export function startSlotService(config: ServiceConfig, logger: Logger): Promise<RunningService> {
  return startService(config, logger, build);
}

async function build(parts: ServiceParts) {
  const { config, database, shutdown } = parts;
  const sequences = new SequenceCache();
  sequences.registerMetrics(parts.metrics);
  shutdown.push({ name: 'delivery-sequence cache', stop: () => sequences.close() });
  const { replica, requestRefresh } = await startStores(parts, sequences);
  const handlers = createSlotHandlers({ database, sequences, appUrl: config.appUrl, requestRefresh });
  return [
    implement(SlotService, handlers, { error: slotErrors.accessDenied, except: ['getDeliverySequence'] }),
    implement(SlotStoreService, createStoreHandlers({ database, replica })),
  ];
}
