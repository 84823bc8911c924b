import type { Logger } from 'pino';
import type { ServiceConfig } from '../../shared/config/config.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { implement } from '../../shared/rpc/implementation.ts';
import { type RunningService, startService } from '../../shared/rpc/service.ts';
import { slotErrors } from './errors.ts';
import { createSlotHandlers } from './handlers.ts';
import { SequenceCache } from './sequence.ts';

/** Starts slot-service on its two ports (design 1). Rejects as `startService` does. */
export function startSlotService(config: ServiceConfig, logger: Logger): Promise<RunningService> {
  return startService(config, logger, ({ database, shutdown }) => {
    const sequences = new SequenceCache();
    shutdown.push({ name: 'delivery-sequence cache', stop: () => sequences.close() });
    const handlers = createSlotHandlers({ database, sequences, appUrl: config.appUrl });
    return [
      implement(SlotService, handlers, {
        error: slotErrors.accessDenied,
        except: ['getDeliverySequence'],
      }),
      implement(SlotStoreService, {}),
    ];
  });
}
