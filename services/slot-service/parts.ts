import type { Database } from '../../shared/db/database.ts';
import type { Outcomes } from '../../shared/holds/outcomes.ts';
import type { unsentReader } from '../../shared/webhooks/unsent.ts';
import type { SequenceCache } from './slots/sequence-cache.ts';
import type { StoreReplica } from './stores/replica.ts';

/** The dependencies of the slot procedures. */
export interface SlotParts {
  readonly database: Database;
  readonly sequences: SequenceCache;
  /** The start of a snippet's access URL, without a trailing slash. */
  readonly appUrl: string;
  /** Requests a store refresh after a commit. Neither waits nor throws (design 4). */
  requestRefresh(): void;
}

/** The dependencies of the bookings. */
export interface BookingParts extends Pick<SlotParts, 'database' | 'requestRefresh'> {
  readonly outcomes: Outcomes;
}

/** The dependencies of the look-ups. */
export interface CatalogParts {
  readonly database: Database;
}

/** The dependencies of the imports. */
export interface ImportParts extends CatalogParts {
  /** The calling code that mobile numbers are stored without, in digits; undefined: they are stored as given. */
  readonly callingCode: string | undefined;
}

/** The dependencies of the planning of slots. */
export interface SlotPlanParts extends Omit<SlotParts, 'appUrl'> {
  /** The time zone of the business, by its IANA name. */
  readonly timeZone: string;
}

/** The dependencies of the overview. */
export interface SlotOverviewParts extends StoreParts {
  readonly unsent: ReturnType<typeof unsentReader>;
}

/** The dependencies of the reads of the derived stores. */
export interface StoreParts {
  readonly database: Database;
  readonly replica: StoreReplica;
}
