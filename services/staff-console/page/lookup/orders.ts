import { useQuery } from '@connectrpc/connect-query';
import { useEffect, useState } from 'react';
import { type CatalogOrder, CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';

const staleTime = 60_000;
/** The most orders that GetOrders accepts at once. */
const maxRead = 1_000;

/** The orders that were read, by number. Undefined stands for one that does not exist. */
export type Orders = ReadonlyMap<number, CatalogOrder | undefined>;

/** Returns the orders that have been read so far. */
export function useOrders(orderIds: readonly number[]): Orders {
  const ids = orderIds.slice(0, maxRead);
  const { data } = useQuery(CatalogService.method.getOrders, { orderIds: ids }, { staleTime, enabled: ids.length > 0 });
  const [orders, setOrders] = useState<Orders>(new Map());
  // While further orders are read, those that are known keep their names.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answer is that for these ids.
  useEffect(() => {
    if (data === undefined) return;
    const found = new Map(data.orders.map((order) => [order.id, order]));
    setOrders((known) => new Map([...known, ...ids.map((id) => [id, found.get(id)] as const)]));
  }, [data]);
  return orders;
}
