import { readSearch, type Search } from './searching.ts';

const defaultLimit = 20;
// Skipped rows take time too.
const maxListed = 1_000_000;
const maxFound = 1_000;

/** The request of a look-up, with bounds declared in `proto/`. */
interface LookUpRequest {
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** The limit and offset of a page. */
export interface LookUpPage {
  readonly limit: number;
  readonly offset: number;
}

/** A page to read, either of a search's matches or of all rows. */
interface LookUp {
  readonly search: Search | undefined;
  readonly page: LookUpPage;
}

/**
 * Validates the request of a look-up. Rows beyond the first million, and matches beyond the first 1,000 of a search,
 * are not shown (design 8).
 *
 * @returns undefined for a page without any rows to show.
 */
export function readLookUp({ search: term, limit = defaultLimit, offset = 0 }: LookUpRequest): LookUp | undefined {
  const search = readSearch(term);
  const shown = Math.min(limit, (search === undefined ? maxListed : maxFound) - offset);
  return shown > 0 ? { search, page: { limit: shown, offset } } : undefined;
}
