import type { Logger } from 'pino';
import type { ServiceConfig } from '../../shared/config/config.ts';
import { tookTooLong } from '../../shared/db/errors.ts';
import { NotificationListener } from '../../shared/db/listener.ts';
import { commonErrors } from '../../shared/errors/errors.ts';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { ImportService } from '../../shared/gen/catalog/v1/import_service_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { Outcomes } from '../../shared/holds/outcomes.ts';
import { implement, type StaffRule } from '../../shared/rpc/implementation.ts';
import { startAuditService } from '../../shared/runtime/audit-service.ts';
import { type RunningService, type ServiceParts, startService } from '../../shared/runtime/start-service.ts';
import { unsentReader } from '../../shared/webhooks/unsent.ts';
import { bookingOutcomes } from './bookings/booking.ts';
import { bookingLocks } from './bookings/locks.ts';
import { sweepBookings } from './bookings/sweep.ts';
import {
  createCatalogHandlers,
  createImportHandlers,
  createSlotBookingHandlers,
  createSlotHandlers,
  createSlotPlanHandlers,
  createSlotStoreHandlers,
} from './handlers.ts';
import { SequenceCache, sequenceChannel } from './slots/sequence-cache.ts';
import { registerStoreMetrics } from './stores/metrics.ts';
import { storeVersionChannel } from './stores/refresh.ts';
import { createRefresh, type Refresh, startRefreshJob } from './stores/refresh-job.ts';
import { StoreReplica } from './stores/replica.ts';

/** Starts slot-service on its two ports (design 1). Rejects as `startService` does. */
export function startSlotService(config: ServiceConfig, logger: Logger): Promise<RunningService> {
  return startService(config, logger, async (parts) => {
    const { sequences, replica, requestRefresh } = await startStoresAndCache(parts);
    const { database, metrics, sweeps } = parts;
    const writes = { database, sequences, requestRefresh };
    const slots = createSlotHandlers({ ...writes, appUrl: config.appUrl });
    const unsent = unsentReader(config, 'slot');
    const plan = createSlotPlanHandlers({ ...writes, replica, unsent, timeZone: config.businessTimeZone });
    const outcomes = new Outcomes(bookingOutcomes);
    outcomes.registerMetrics(
      metrics,
      'slot_bookings_total',
      'Bookings by what a call made of them, and refusals by their reason.',
    );
    sweeps.slot_bookings = sweepBookings(requestRefresh);
    const bookings = createSlotBookingHandlers({ ...writes, outcomes });
    const imports = createImportHandlers({ database, callingCode: config.businessCallingCode });
    return [
      implement(SlotService, slots, { error: commonErrors.accessDenied, except: ['getDeliverySequence'] }),
      implement(SlotBookingService, bookings, openBookings, bookingLocks(database)),
      implement(SlotStoreService, createSlotStoreHandlers({ database, replica })),
      implement(SlotPlanService, plan, { error: commonErrors.accessDenied }),
      implement(CatalogService, createCatalogHandlers({ database }), {
        error: commonErrors.accessDenied,
        except: ['resolve'],
      }),
      implement(ImportService, imports, { error: commonErrors.accessDenied }),
      await startAuditService(parts, 'slot'),
    ];
  });
}

// Any authenticated caller may book a slot for an order.
const openBookings: StaffRule<typeof SlotBookingService> = {
  error: commonErrors.accessDenied,
  except: ['book', 'confirm', 'release', 'move', 'getAvailability'],
};

/**
 * Retries while another replica stores all slots, which may take longer than a statement may wait for its lock: 8 s.
 */
async function refreshAtStart(refresh: Refresh): Promise<void> {
  for (let left = 7; ; left -= 1) {
    try {
      return await refresh();
    } catch (error) {
      if (left === 0 || !tookTooLong(error)) throw error;
    }
  }
}

/**
 * Starts the delivery-sequence cache and the derived stores (design 4), and resolves with them. Requests from before
 * the start are refreshed first. The listener starts before the job, so that it misses no version.
 */
export async function startStoresAndCache(parts: ServiceParts) {
  const { config, database, logger, metrics, shutdown, draining } = parts;
  const sequences = new SequenceCache();
  sequences.registerMetrics(metrics);
  shutdown.push({ name: 'delivery-sequence cache', stop: () => sequences.close() });

  const refresh = createRefresh(parts);
  await refreshAtStart(refresh);
  const replica = await StoreReplica.open(database, draining, logger);
  registerStoreMetrics(metrics, replica, database);

  const channels = {
    [storeVersionChannel]: () => replica.load(),
    [sequenceChannel]: (payload: string) => sequences.onNotification(payload),
  };
  const connected = () => {
    sequences.resume();
    replica.load();
  };
  const handlers = { channels, connected, disconnected: () => sequences.bypass() };
  const listener = new NotificationListener(config.database, database, handlers, logger);
  listener.registerMetrics(metrics);
  shutdown.push({ name: 'listener', stop: () => listener.stop() });
  await listener.start();

  const requestRefresh = await startRefreshJob(parts, refresh);
  return { sequences, replica, requestRefresh };
}
