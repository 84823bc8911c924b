import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';

// Groups and names of products seldom change.
const staleTime = 60_000;
/** How many products GetProducts takes at once. */
const maxNamed = 1_000;

/** The product groups by their ids; empty until they are read. */
export function useGroups(): ReadonlyMap<number, string> {
  const { data } = useQuery(CatalogService.method.listProductGroups, {}, { staleTime });
  return useMemo(() => new Map(data?.groups.map(({ id, name }) => [id, name])), [data]);
}

/** The names of product groups, such as "Fruit, Group 7": a number where there is no name. */
export function groupNames(groups: ReadonlyMap<number, string>, ids: readonly number[]): string {
  return ids.map((id) => groups.get(id) ?? `Group ${id}`).join(', ');
}

/**
 * Returns what names a product: its number until its name is read, or when there is no such product. Of more than
 * 1,000 products the first are named.
 */
export function useProductNames(productIds: readonly number[]): (id: number) => string {
  const { data } = useQuery(
    CatalogService.method.getProducts,
    { productIds: productIds.slice(0, maxNamed) },
    { staleTime, enabled: productIds.length > 0, placeholderData: keepPreviousData },
  );
  const names = useMemo(() => new Map(data?.products.map(({ id, name }) => [id, name])), [data]);
  return (id) => names.get(id) ?? `Product ${id}`;
}
