import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { createQueryOptions, useQuery, useTransport } from '@connectrpc/connect-query';
import { keepPreviousData, skipToken, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CatalogService } from '#gen/catalog/v1/catalog_service_pb';
import type { ProductSummary } from '#gen/common/v1/product_pb';
import { CouponService, type UserMiniInfo } from '#gen/coupon/v1/coupon_service_pb';
import { type Option, PickMany } from '../forms/pick-many.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { useDebounced } from '../ui/pauses.tsx';
import { isolate, readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { useGroups, useProductNames, userSearch } from './names.ts';

/** The properties of a picker of records. */
export interface PickerProps {
  readonly label?: string;
  readonly hint?: string;
  readonly autoFocus?: boolean;
  readonly chosen: readonly Option[];
  onChange(chosen: readonly Option[]): void;
  readonly problem?: string | undefined;
}

/** A choice of products from the catalogue, with their pictures. */
export function ProductPicker(props: PickerProps) {
  const { chosen } = props;
  // Of those that a coupon's list of ids names, only the ids are known.
  const nameOf = useProductNames(chosen.filter(({ name }) => name === '').map(({ id }) => id));
  const named = chosen.map((option) => (option.name === '' ? { ...option, name: nameOf(option.id) } : option));
  return (
    <Picker
      label={words.fields.productIds}
      {...props}
      chosen={named}
      bySearch={productsBySearch}
      byIds={productsById}
    />
  );
}

/** A choice of users, by their names or mobile numbers. */
export function UserPicker(props: PickerProps) {
  return <Picker label={words.fields.applicableUsers} {...props} bySearch={usersBySearch} byIds={usersById} />;
}

interface GroupPickerProps {
  readonly chosen: readonly number[];
  onChange(chosen: readonly number[]): void;
}

/** A choice of product groups. */
export function GroupPicker({ chosen, onChange }: GroupPickerProps) {
  const groups = useGroups();
  const [search, setSearch] = useState('');
  const toOption = (id: number): Option => ({ id, name: groups.get(id) ?? words.lookup.group(id) });
  const sought = search.trim().toLowerCase();
  const all = [...groups.keys()].map(toOption);
  return (
    <PickMany
      label={words.fields.groupIds}
      search={search}
      onSearch={setSearch}
      found={all.filter(({ id, name }) => name.toLowerCase().includes(sought) || String(id) === sought)}
      chosen={chosen.map(toOption)}
      onChange={(options) => onChange(options.map(({ id }) => id))}
      readByNumbers={async (numbers) => all.filter(({ id }) => numbers.includes(String(id)))}
    />
  );
}

/** A procedure that finds records. */
interface LookUp<Sought, I extends DescMessage, O extends DescMessage> {
  readonly method: DescMethodUnary<I, O>;
  readonly request: (sought: Sought) => MessageInitShape<I>;
  readonly options: (answer: MessageShape<O>) => readonly Option[];
}

interface AnyPickerProps<I extends DescMessage, O extends DescMessage, J extends DescMessage, P extends DescMessage>
  extends PickerProps {
  readonly label: string;
  readonly bySearch: LookUp<string, I, O>;
  readonly byIds: LookUp<number[], J, P>;
}

function Picker<I extends DescMessage, O extends DescMessage, J extends DescMessage, P extends DescMessage>(
  props: AnyPickerProps<I, O, J, P>,
) {
  const { bySearch, byIds, problem, ...rest } = props;
  const [search, setSearch] = useState('');
  const settled = useDebounced(search);
  const sought = bySearch.request(settled);
  const query = useQuery(bySearch.method, sought, { placeholderData: keepPreviousData });
  const { data, error } = query;
  // Also the record that has this number, which the search itself may not look at.
  const id = readId(settled);
  const byId = useQuery(byIds.method, id === undefined || isMobile(settled.trim()) ? skipToken : byIds.request([id]));
  const ofId = byId.data === undefined ? [] : byIds.options(byId.data);
  const ofSearch = (data && bySearch.options(data))?.filter((option) => option.id !== ofId[0]?.id);
  const transport = useTransport();
  const queryClient = useQueryClient();
  const readByNumbers = async (numbers: readonly string[]) => {
    const ids = byIds.request(numbers.filter((number) => !isMobile(number)).flatMap((number) => readId(number) ?? []));
    const found = [
      ...byIds.options(await queryClient.fetchQuery(createQueryOptions(byIds.method, ids, { transport }))),
    ];
    for (const mobile of numbers.filter(isMobile)) {
      const query = createQueryOptions(bySearch.method, bySearch.request(mobile), { transport });
      const options = bySearch.options(await queryClient.fetchQuery(query));
      found.push(...options.filter(({ detail }) => detail === mobile));
    }
    return found;
  };
  return (
    <PickMany
      {...rest}
      search={search}
      onSearch={setSearch}
      found={ofSearch && [...ofId, ...ofSearch]}
      isSearching={settled !== search || query.isPlaceholderData || query.isPending || byId.isFetching}
      readByNumbers={readByNumbers}
      problem={error === null ? problem : describeFailure(error).title}
    />
  );
}

/** Whether a number may be a mobile number, which is never the number of a record. */
function isMobile(number: string): boolean {
  return number.length >= 10;
}

const productsBySearch = {
  method: CatalogService.method.searchProducts,
  request: (search: string) => ({ search: search.trim() }),
  options: optionsOfProducts,
};
const productsById = {
  method: CatalogService.method.getProducts,
  request: (productIds: number[]) => ({ productIds }),
  options: optionsOfProducts,
};
const usersBySearch = {
  method: CouponService.method.getUsersMiniInfo,
  request: (search: string) => ({ search: userSearch(search) }),
  options: optionsOfUsers,
};
const usersById = {
  method: CatalogService.method.getUsers,
  request: (userIds: number[]) => ({ userIds }),
  options: optionsOfUsers,
};

function optionsOfProducts({ products }: { readonly products: readonly ProductSummary[] }): Option[] {
  return products.map(({ id, name, images }) => ({ id, name: isolate(name), image: images[0] ?? '' }));
}

function optionsOfUsers({ users }: { readonly users: readonly Pick<UserMiniInfo, 'id' | 'name' | 'mobile'>[] }) {
  return users.map(({ id, name, mobile }) => ({ id, name: isolate(name), detail: mobile }));
}
