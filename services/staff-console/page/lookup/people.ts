import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { type CatalogOrder, CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { isolate } from '../ui/text.ts';

// People seldom change their names.
const staleTime = 60_000;
/** The most records that GetUsers and GetOrders accept at once. */
const maxNamed = 1_000;

/** Returns the names of the staff users by id; empty until they are read. */
export function useStaff(): ReadonlyMap<number, string> {
  const { data } = useQuery(CatalogService.method.listStaff, {}, { staleTime });
  return useMemo(() => new Map(data?.staff.map(({ id, name }) => [id, isolate(name)])), [data]);
}

/** Returns a function that names a user. It returns the number until the name is read, and for an unknown user. */
export function useUserNames(userIds: readonly number[]): (id: number) => string {
  const { data } = useQuery(
    CatalogService.method.getUsers,
    { userIds: userIds.slice(0, maxNamed) },
    { staleTime, enabled: userIds.length > 0, placeholderData: keepPreviousData },
  );
  const names = useMemo(() => new Map(data?.users.map(({ id, name }) => [id, isolate(name)])), [data]);
  return (id) => names.get(id) ?? `User ${id}`;
}

/** The orders that were read, by number. Undefined stands for one that does not exist. */
export type Orders = ReadonlyMap<number, CatalogOrder | undefined>;

/** Returns the orders that have been read so far. */
export function useOrders(orderIds: readonly number[]): Orders {
  const ids = orderIds.slice(0, maxNamed);
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

/** Returns the search for users by what people paste: trimmed, and of a mobile number its last ten digits alone. */
export function userSearch(text: string): string {
  const trimmed = text.trim();
  return /^\+?[\d\s().-]+$/.test(trimmed) && /\d/.test(trimmed) ? trimmed.replace(/\D/g, '').slice(-10) : trimmed;
}
