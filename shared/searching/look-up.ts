import { readSearch, type Search } from './searching.ts';

const defaultLimit = 20;
// To skip a row takes time, too.
const maxListed = 1_000_000;
const maxFound = 1_000;

/** A request of a look-up, whose bounds `proto/` declares. */
interface LookUpRequest {
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** A page of a look-up, by offset. */
export interface LookUpPage {
  readonly limit: number;
  readonly offset: number;
}

/** A page to read: of the rows that a search finds, or of all. */
interface LookUp {
  readonly search: Search | undefined;
  readonly page: LookUpPage;
}

/**
 * Reads which page of a look-up is asked for. Rows beyond the first million, and beyond the first 1,000 of a search, are not
 * shown (design 8).
 *
 * @returns undefined for a page on which nothing is shown.
 */
export function readLookUp({ search: term, limit = defaultLimit, offset = 0 }: LookUpRequest): LookUp | undefined {
  const search = readSearch(term);
  const shown = Math.min(limit, (search === undefined ? maxListed : maxFound) - offset);
  return shown > 0 ? { search, page: { limit: shown, offset } } : undefined;
}
