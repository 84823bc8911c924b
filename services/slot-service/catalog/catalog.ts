import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import { type ProductRow, toProduct } from '../slots/slot.ts';

// The maximum size of an answer. It applies here too because connect-node, which encodes some answers, has no limit.
export const maxProductBytes = 64 * 1024 * 1024;

/** SQL of the order in which products are shown: by name in the order that people expect, then id. */
export const byName = 'products.name collate "und-x-icu", products.id';

/** SQL of the bytes that the name and the images of a product have. */
export const productBytes = `octet_length(products.name) + coalesce(octet_length(array_to_string(products.images, '')), 0)`;

const areTooLarge = `sum(${productBytes}) over () > ${maxProductBytes}`;

/** A row of a product list. */
export interface ListedProductRow extends ProductRow {
  /** Whether the names and images of all rows exceed the size of an answer. The images are then not read. */
  areTooLarge: boolean;
}

/** SQL of the columns of a `ListedProductRow`. Images are read as JSON, which parses faster than an array. */
export const productColumns = `products.id, products.name, ${areTooLarge} as "areTooLarge",
  case when not ${areTooLarge} then array_to_json(products.images) end as images`;

/** Converts the rows to `ProductSummary`s. Throws RESOURCE_EXHAUSTED if they are too large for an answer. */
export function toProducts(rows: readonly ListedProductRow[]) {
  if (rows[0]?.areTooLarge) throw fail(commonErrors.answerTooLarge);
  return mapped(rows, toProduct);
}

/** A user in compact form, as a `CatalogUser` has it. */
export interface ListedUserRow {
  id: number;
  name: string;
  mobile: string;
}

/** SQL of the name under which a user is shown. An empty name counts as none (design 7). */
export const shownName = `coalesce(nullif(users.name, ''), 'Unknown')`;
