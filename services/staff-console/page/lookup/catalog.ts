import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { isolate } from '../ui/text.ts';

// Product groups and product names seldom change.
const staleTime = 60_000;
/** The most products that GetProducts accepts at once. */
const maxNamed = 1_000;

/** Returns the names of the product groups by id; empty until they are read. */
export function useGroups(): ReadonlyMap<number, string> {
  const { data } = useQuery(CatalogService.method.listProductGroups, {}, { staleTime });
  return useMemo(() => new Map(data?.groups.map(({ id, name }) => [id, isolate(name)])), [data]);
}

/** Returns the names of product groups, such as "Fruit, Group 7". A group without a name has its number. */
export function groupNames(groups: ReadonlyMap<number, string>, ids: readonly number[]): string {
  return ids.map((id) => groups.get(id) ?? `Group ${id}`).join(', ');
}

/**
 * Returns a function that names a product. It returns the number until the name is read, for a product that does not
 * exist, and beyond the first 1,000 products.
 */
export function useProductNames(productIds: readonly number[]): (id: number) => string {
  const { data } = useQuery(
    CatalogService.method.getProducts,
    { productIds: productIds.slice(0, maxNamed) },
    { staleTime, enabled: productIds.length > 0, placeholderData: keepPreviousData },
  );
  const names = useMemo(() => new Map(data?.products.map(({ id, name }) => [id, isolate(name)])), [data]);
  return (id) => names.get(id) ?? `Product ${id}`;
}
