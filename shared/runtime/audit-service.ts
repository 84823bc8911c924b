import { listEntries } from '../audit/list-entries.ts';
import type { shownBy } from '../audit/shown-entry.ts';
import { EntryTail } from '../audit/tail.ts';
import { watchEntries } from '../audit/watch-entries.ts';
import { commonErrors } from '../errors/errors.ts';
import { AuditService } from '../gen/audit/v1/audit_service_pb.ts';
import { type Implementation, implement } from '../rpc/implementation.ts';
import { endDelivery } from '../webhooks/deliveries.ts';
import { startWebhooks, WebhookState } from '../webhooks/webhooks.ts';
import type { ServiceParts } from './start-service.ts';
import { sweepBy } from './sweeps.ts';

/**
 * Starts to follow the audit entries of a service's procedures and to send them where webhooks are configured, and
 * implements what staff read of them (design 10, 14).
 */
export async function startAuditService(parts: ServiceParts, service: keyof typeof shownBy): Promise<Implementation> {
  const { config, database, metrics, sweeps } = parts;
  const webhooks = new WebhookState();
  webhooks.registerMetrics(metrics, database);
  const tail = await EntryTail.start(parts, service);
  if (config.events !== undefined) await startWebhooks(parts, config.events, tail, webhooks);
  else sweeps.webhook_deliveries = sweepBy(() => endDelivery({ service: config.database.applicationName }));
  const handlers = { listEntries: listEntries(database, service), watchEntries: watchEntries(database, tail, service) };
  return implement(AuditService, handlers, { error: commonErrors.accessDenied });
}
