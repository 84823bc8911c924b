import { statement } from '../../../shared/db/statement.ts';
import type { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { byName, type ListedProductRow, productColumns, toProducts } from '../catalog/catalog.ts';
import type { CatalogParts } from '../parts.ts';

/** Design 11, GetProducts: lists products by their ids, ordered by name, then id. Omits ids without a product. */
export function getProducts({ database }: CatalogParts): Handler<typeof CatalogService.method.getProducts> {
  return async ({ productIds }, call) => {
    if (productIds.length === 0) return { products: [] };
    const products = await database.for(call).query(selectProducts({ productIds }));
    return { products: toProducts(products) };
  };
}

const selectProducts = statement<ListedProductRow, { productIds: readonly number[] }>(
  'getProducts',
  `select ${productColumns} from products
   where id = any($productIds::integer[])
   order by ${byName}`,
);
