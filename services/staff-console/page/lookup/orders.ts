import { useQuery } from '@connectrpc/connect-query';
import { useEffect, useState } from 'react';
import { type CatalogOrder, CatalogService } from '#gen/catalog/v1/catalog_service_pb';

const staleTime = 60_000;
/** The most orders that GetOrders accepts at once. */
const maxRead = 1_000;

/** The orders that were read, by number. Undefined stands for one that does not exist. */
export type Orders = ReadonlyMap<number, CatalogOrder | undefined>;

/** Returns the orders that have been read so far, and whether others are being read. */
export function useOrders(orderIds: readonly number[]): { readonly orders: Orders; readonly isReading: boolean } {
  const ids = orderIds.slice(0, maxRead);
  const options = { staleTime, enabled: ids.length > 0 };
  const { data, isLoading } = useQuery(CatalogService.method.getOrders, { orderIds: ids }, options);
  // While further orders are read, those that are known keep their names.
  const [known, setKnown] = useState<Orders>(new Map());
  const found = new Map(data?.orders.map((order) => [order.id, order]));
  const orders = data === undefined ? known : new Map([...known, ...ids.map((id) => [id, found.get(id)] as const)]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the orders change with the answer.
  useEffect(() => setKnown(orders), [data]);
  return { orders, isReading: isLoading };
}
