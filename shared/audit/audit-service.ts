import { commonErrors } from '../errors/errors.ts';
import { AuditService } from '../gen/audit/v1/audit_service_pb.ts';
import { type Implementation, implement } from '../rpc/implementation.ts';
import { listEntries } from './list-entries.ts';
import type { shownBy } from './shown-entry.ts';
import { EntryTail, type TailedService } from './tail.ts';
import { watchEntries } from './watch-entries.ts';

/** Starts to follow the entries of a service's procedures, and implements what staff read of them (design 10, 14). */
export async function startAuditService(parts: TailedService, service: keyof typeof shownBy): Promise<Implementation> {
  const { database } = parts;
  const tail = await EntryTail.start(parts, service);
  const handlers = { listEntries: listEntries(database, service), watchEntries: watchEntries(database, tail) };
  return implement(AuditService, handlers, { error: commonErrors.accessDenied });
}
