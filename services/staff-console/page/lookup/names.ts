import { createQueryOptions, useQuery, useTransport } from '@connectrpc/connect-query';
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { type CatalogOrder, CatalogService, type CatalogUser } from '#gen/catalog/v1/catalog_service_pb';
import { CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { isolate, readId } from '../ui/text.ts';
import { words } from '../words.ts';

// Names seldom change.
const staleTime = 60_000;
/** The most records that GetProducts, GetUsers and GetOrders accept at once. */
const maxNamed = 1_000;

interface Named {
  readonly id: number;
  readonly name: string;
}

/** Returns the names of the product groups by id; empty until they are read. */
export function useGroups(): ReadonlyMap<number, string> {
  return useNames(useQuery(CatalogService.method.listProductGroups, {}, { staleTime }).data?.groups);
}

/** Names product groups, such as "Fruit, Group 7". A group without a name has its number. */
export function groupNames(groups: ReadonlyMap<number, string>, ids: readonly number[]): string {
  return ids.map((id) => groups.get(id) ?? words.lookup.group(id)).join(', ');
}

/** Returns the names of the staff users by id; empty until they are read. */
export function useStaff(): ReadonlyMap<number, string> {
  return useNames(useQuery(CatalogService.method.listStaff, {}, { staleTime }).data?.staff);
}

/**
 * Returns a function that names a product. It returns the number until the name is read, for a product that does not
 * exist, and beyond the first 1,000 products.
 */
export function useProductNames(ids: readonly number[]): (id: number) => string {
  const { data } = useQuery(CatalogService.method.getProducts, { productIds: ids.slice(0, maxNamed) }, options(ids));
  const names = useNames(data?.products);
  return (id) => names.get(id) ?? words.lookup.product(id);
}

/** Like `useProductNames`, for users. */
export function useUserNames(ids: readonly number[]): (id: number) => string {
  const userOf = useUsers(ids);
  return (id) => userOf(id).name;
}

/** Returns a function that tells a user's name, as `useUserNames` does, and mobile number; an empty one if there is none. */
export function useUsers(ids: readonly number[]): (id: number) => Pick<CatalogUser, 'name' | 'mobile'> {
  const { data } = useQuery(CatalogService.method.getUsers, { userIds: ids.slice(0, maxNamed) }, options(ids));
  const users = useMemo(() => new Map(data?.users.map((user) => [user.id, user])), [data]);
  return (id) => {
    const user = users.get(id);
    return { name: user === undefined ? words.lookup.customer(id) : isolate(user.name), mobile: user?.mobile ?? '' };
  };
}

/** Returns the codes of coupons by their ids, as far as they are read: with a call for each. */
export function useCouponCodes(ids: readonly number[]): ReadonlyMap<number, string> {
  const transport = useTransport();
  const { getById } = CouponService.method;
  const coupons = useQueries({ queries: ids.map((id) => createQueryOptions(getById, { id }, { transport })) });
  return new Map(coupons.flatMap(({ data }) => (data?.coupon ? [[data.coupon.id, data.coupon.couponCode]] : [])));
}

function options(ids: readonly (number | string)[]) {
  return { staleTime, enabled: ids.length > 0, placeholderData: keepPreviousData } as const;
}

function useNames(records: readonly Named[] | undefined): ReadonlyMap<number, string> {
  return useMemo(() => new Map(records?.map(({ id, name }) => [id, isolate(name)])), [records]);
}

/** The orders that were read, by number. Undefined stands for one that does not exist. */
export type Orders = ReadonlyMap<number, CatalogOrder | undefined>;

/** Returns the orders that have been read so far, and whether others are being read. */
export function useOrders(orderIds: readonly number[]): { readonly orders: Orders; readonly isReading: boolean } {
  const ids = orderIds.slice(0, maxNamed);
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

/**
 * Returns the numbers of orders by the keys under which slots were booked: a business's own keys or, of orders without one,
 * the numbers. Undefined until they are read.
 */
export function useOrderIds(keys: readonly string[]): ReadonlyMap<string, number> | undefined {
  const orderExternalIds = keys.slice(0, maxNamed);
  const { data, error } = useQuery(CatalogService.method.resolve, { orderExternalIds }, options(keys));
  if (keys.length > 0 && data === undefined && error === null) return undefined;
  // A key may have the name of what every object has, such as "constructor".
  const known = new Map(Object.entries(data?.orders ?? {}));
  return new Map(keys.flatMap((key) => [known.get(key) ?? readId(key) ?? []].flat().map((id) => [key, id])));
}

// Users and products that were deleted stay where a coupon names them: the service gives their id alone (design 14).

interface NamedUser {
  readonly id: number;
  readonly name?: string | undefined;
  readonly mobile: string;
}

/** Whether a user was deleted. */
export const isGone = ({ name, mobile }: NamedUser): boolean => name === undefined && mobile === '';

/** Names a user, with the mobile number if there is one. */
export function describeUser(user: NamedUser): string {
  if (isGone(user)) return words.lookup.deleted(words.lookup.customer(user.id));
  const name = isolate(user.name || words.lookup.unnamed);
  return user.mobile === '' ? name : `${name}, ${user.mobile}`;
}

/** Names a product. */
export function nameOfProduct({ id, name }: { readonly id: number; readonly name: string }): string {
  return name === '' ? words.lookup.deleted(words.lookup.product(id)) : isolate(name);
}

/** Returns the search for users by what people paste: with single spaces, and of a mobile number its last ten digits alone. */
export function userSearch(text: string): string {
  const trimmed = text.trim().replace(/\s+/g, ' ');
  return /^\+?[\d\s().-]+$/.test(trimmed) && /\d/.test(trimmed) ? trimmed.replace(/\D/g, '').slice(-10) : trimmed;
}
