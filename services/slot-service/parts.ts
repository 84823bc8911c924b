import type { Database } from '../../shared/db/database.ts';
import type { SequenceCache } from './slots/sequence-cache.ts';
import type { StoreReplica } from './stores/replica.ts';

/** What the slot procedures are built from. */
export interface SlotParts {
  readonly database: Database;
  readonly sequences: SequenceCache;
  /** Where a snippet's access URL starts, without a slash at its end. */
  readonly appUrl: string;
  /** Asks for a store refresh after a commit; neither waits nor throws (design 4, step 2). */
  requestRefresh(): void;
}

/** What the look-ups of products are built from. */
export interface CatalogParts {
  readonly database: Database;
}

/** What the reads of the derived stores are built from. */
export interface StoreParts {
  readonly database: Database;
  readonly replica: StoreReplica;
}
