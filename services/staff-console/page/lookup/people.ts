import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
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

/** Returns the orders that exist, by number; undefined until they are read. */
export function useOrders(orderIds: readonly number[]) {
  const { data } = useQuery(
    CatalogService.method.getOrders,
    { orderIds: orderIds.slice(0, maxNamed) },
    { staleTime, enabled: orderIds.length > 0, placeholderData: keepPreviousData },
  );
  return useMemo(() => data && new Map(data.orders.map((order) => [order.id, order])), [data]);
}

/** Returns the search for users by what people paste: trimmed, and of a mobile number its last ten digits alone. */
export function userSearch(text: string): string {
  const trimmed = text.trim();
  return /^\+?[\d\s().-]+$/.test(trimmed) && /\d/.test(trimmed) ? trimmed.replace(/\D/g, '').slice(-10) : trimmed;
}
