import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { type Option, PickMany } from '../forms/pick-many.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { isolate } from '../ui/text.ts';
import { useDebounced } from '../ui/use-debounced.ts';
import { userSearch } from './people.ts';
import { useLookUp } from './use-look-up.ts';

interface UserPickerProps {
  readonly label?: string;
  readonly hint?: string;
  readonly chosen: readonly Option[];
  onChange(chosen: readonly Option[]): void;
  readonly problem?: string | undefined;
}

/** A choice of users, by their names or mobile numbers. */
export function UserPicker({ label = 'Users', ...props }: UserPickerProps): ReactNode {
  const [search, setSearch] = useState('');
  const lookUp = useLookUp();
  const { data, error } = useQuery(
    CouponService.method.getUsersMiniInfo,
    { search: userSearch(useDebounced(search)) },
    { placeholderData: keepPreviousData },
  );
  return (
    <PickMany
      {...props}
      label={label}
      search={search}
      onSearch={setSearch}
      found={data?.users.map(toOption)}
      readByIds={async (userIds) =>
        (await lookUp(CatalogService.method.getUsers, { userIds: [...userIds] })).users.map(toOption)
      }
      problem={error === null ? props.problem : describeFailure(error).title}
    />
  );
}

const toOption = ({ id, name, mobile }: { readonly id: number; readonly name: string; readonly mobile: string }) => ({
  id,
  name: isolate(name),
  detail: mobile,
});
