import type { DescField } from '@bufbuild/protobuf';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import { type LongList, longList, longMessage } from '../../../shared/rpc/protobuf/long-message.ts';
import { type ProductRow, toProduct } from '../slots/slot.ts';

// No answer is larger. connect-node, which encodes some of them, has no bound of its own.
const maxBytes = 64 * 1024 * 1024;

/** SQL of the order in which products are shown: by name as people sort, then id. */
export const byName = 'products.name collate "und-x-icu", products.id';

const areTooLarge = `sum(
  octet_length(products.name) + coalesce(octet_length(array_to_string(products.images, '')), 0)
) over () > ${maxBytes}`;

/** A product as the lists of products read it. */
export interface ListedProductRow extends ProductRow {
  /** Whether the names and images of all rows together are too large for an answer, and are not read. */
  areTooLarge: boolean;
}

/** SQL of the columns of a `ListedProductRow`. As JSON, many images are read in a fraction of the time. */
export const productColumns = `products.id, products.name, ${areTooLarge} as "areTooLarge",
  case when not ${areTooLarge} then array_to_json(products.images) end as images`;

/**
 * The products of an answer, in a field of it. Images may be long, so they are encoded in batches. Throws RESOURCE_EXHAUSTED where
 * they are too large for an answer.
 */
export function productList(field: DescField, products: readonly ListedProductRow[]): LongList {
  if (products[0]?.areTooLarge) throw fail(commonErrors.answerTooLarge);
  return longList(field, products, (product) => longMessage(ProductSummarySchema, toProduct(product)));
}
