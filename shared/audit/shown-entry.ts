import { microsOf } from '../db/micros.ts';
import { JsonText } from '../rpc/answers/answer.ts';
import type { ResourceType } from './entry.ts';

/** What each service shows: the entries that its own procedures have written. */
export const shownBy = {
  slot: {
    // What befalls the database is told by one service only, so that clients which ask both show it once.
    types: ['slot', 'booking', 'product', 'product_group', 'order', 'database'],
    hasImports: true,
  },
  coupon: {
    types: ['coupon', 'reserved_coupon', 'redemption', 'coupon_batch'],
    hasImports: false,
  },
} as const satisfies Record<string, Shown>;

export interface Shown {
  /** The types of records that no other service writes. */
  readonly types: readonly (ResourceType | 'database')[];
  /** Whether the users that it writes are imported, with procedures of the package `catalog`. */
  readonly hasImports: boolean;
}

/** SQL of whether an entry of a user is shown by the service whose `hasImports` is `$ofImports`. */
export const isOfImports = `starts_with(procedure, 'catalog.') = $ofImports`;

/** SQL of whether an entry is shown by the service whose parameters `toShown` returns. */
export const isShown = `(resource_type = any($types::text[]) or (resource_type = 'user' and ${isOfImports}))`;

/** Returns the parameters of `isShown` for a service. */
export function toShown(service: keyof typeof shownBy) {
  const { types, hasImports: ofImports } = shownBy[service];
  return { types, ofImports };
}

/** An entry as PostgreSQL returns it. */
export interface EntryRow {
  id: string;
  at: Date;
  /** The same time in microseconds since 1970. */
  atMicros: string;
  procedure: string;
  subject: string;
  staffId: number | null;
  requestId: string;
  resourceType: string;
  resourceId: number;
  /** As JSON. */
  before: string | null;
  after: string;
}

/** SQL of the columns of an `EntryRow`. Its changes are read only where `isRead`. */
export const entryColumns = (isRead: string) => `
       id, at, ${microsOf('at')} as "atMicros", procedure, subject, staff_id as "staffId", request_id as "requestId",
       resource_type as "resourceType", resource_id as "resourceId",
       case when ${isRead} then before::text end as before, case when ${isRead} then after::text end as after`;

/** Returns the fields of an `AuditEntry`. */
export function toEntry({ id, at, procedure, subject, staffId, requestId, ...row }: EntryRow) {
  return {
    ...{ id, at: at.getTime(), procedure, subject, staffId: staffId ?? undefined, requestId },
    ...{ resourceType: row.resourceType, resourceId: row.resourceId },
    before: row.before === null ? undefined : new JsonText(row.before),
    after: new JsonText(row.after),
  };
}
