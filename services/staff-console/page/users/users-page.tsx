import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  CouponService,
  type GetUsersMiniInfoResponse,
  type UserMiniInfo,
} from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { TextField } from '../forms/text-field.tsx';
import type { Column } from '../lists/column.ts';
import { List } from '../lists/list.tsx';
import { useSearch } from '../lists/use-search.ts';
import { userSearch } from '../lookup/user-search.ts';
import { Page } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';

const pageSize = 50;
const rowsOf = ({ users }: GetUsersMiniInfoResponse) => users;
// The page after one that is not full would be empty.
const next = ({ users }: GetUsersMiniInfoResponse, offset: number) =>
  users.length < pageSize ? undefined : { offset };

const columns: readonly Column<UserMiniInfo>[] = [
  {
    title: 'Name',
    show: ({ id, name }) => <Link href={`/users/${id}`}>{isolate(name)}</Link>,
    text: ({ name }) => name,
  },
  { title: 'Mobile number', text: ({ mobile }) => mobile },
  { title: 'User number', text: ({ id }) => String(id), className: 'number' },
];

/** Lists the users by name. */
export function Component(): ReactNode {
  const { search, field } = useSearch();
  const request = { search: userSearch(search), limit: pageSize };
  return (
    <Page title="Users">
      <div className="bar">
        <TextField label="Search by name or mobile number" {...field} />
      </div>
      <List
        source={{ method: CouponService.method.getUsersMiniInfo, request, mostRows: pageSize, rowsOf, next }}
        what="users"
        empty={request.search === '' ? 'No users yet.' : 'Nobody was found.'}
        caption="By name"
        columns={columns}
        keyOf={({ id }) => id}
      />
    </Page>
  );
}
