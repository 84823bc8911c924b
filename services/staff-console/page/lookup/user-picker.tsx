import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { type Option, PickMany } from '../forms/pick-many.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { useDebounced } from '../ui/use-debounced.ts';

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
  const { data, error } = useQuery(
    CouponService.method.getUsersMiniInfo,
    { search: useDebounced(search) },
    { placeholderData: keepPreviousData },
  );
  const problem = error === null ? props.problem : describeFailure(error).title;
  const found = data?.users.map(({ id, name, mobile }) => ({ id, name, detail: mobile }));
  return <PickMany {...props} label={label} search={search} onSearch={setSearch} found={found} problem={problem} />;
}
