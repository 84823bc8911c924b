import type { DescField } from '@bufbuild/protobuf';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import { type LongList, longList, longMessage } from '../../../shared/rpc/protobuf/long-message.ts';
import { shownList } from '../../../shared/rpc/protobuf/shown.ts';
import type { ProductRow } from '../slots/slot.ts';

// No answer is larger. connect-node, which encodes some of them, has no bound of its own.
const maxBytes = 64 * 1024 * 1024;

/** SQL of the order in which products are shown: by name as people sort, then id. */
export const byName = 'products.name collate "und-x-icu", products.id';

/** SQL of the columns of a `ProductRow`. As JSON, many images are read in a fraction of the time. */
export const productColumns = 'products.id, products.name, array_to_json(products.images) as images';

/**
 * The products of an answer, in a field of it. Images may be long, so they are encoded in batches. Throws RESOURCE_EXHAUSTED where
 * they are too large for an answer.
 */
export function productList(field: DescField, products: readonly ProductRow[]): LongList {
  const bytes = products.reduce((sum, { name, images }) => sum + bytesOf([name]) + bytesOf(shownList(images)), 0);
  if (bytes > maxBytes) throw fail(commonErrors.answerTooLarge);
  return longList(field, products, ({ images, ...product }) =>
    longMessage(ProductSummarySchema, { ...product, images: shownList(images) }),
  );
}

const bytesOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
