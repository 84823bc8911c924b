import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { CouponService, type UserMiniInfo } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { TextField } from '../forms/text-field.tsx';
import type { Column } from '../lists/column.ts';
import { CsvButton } from '../lists/csv-button.tsx';
import { ListView } from '../lists/list-view.tsx';
import { useReadPages } from '../lists/pages.ts';
import { useNarrowed } from '../lists/use-narrowed.ts';
import { useSearch } from '../lists/use-search.ts';
import { userSearch } from '../lookup/people.ts';
import { Page } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';

const pageSize = 50;

const columns: readonly Column<UserMiniInfo>[] = [
  {
    title: 'Name',
    show: ({ id, name }) => <Link href={`/users/${id}`}>{isolate(name)}</Link>,
    text: ({ name }) => name,
  },
  { title: 'Mobile number', show: ({ mobile }) => mobile, text: ({ mobile }) => mobile },
  { title: 'User number', show: ({ id }) => id, text: ({ id }) => String(id), className: 'number' },
];

/** Lists the users by name. */
export function Component(): ReactNode {
  const { text, search, type } = useSearch();
  const request = { search: userSearch(search), limit: pageSize };
  const query = useInfiniteQuery(
    CouponService.method.getUsersMiniInfo,
    { ...request, offset: 0 },
    {
      pageParamKey: 'offset',
      getNextPageParam: ({ users }, pages) => (users.length < pageSize ? undefined : pages.length * pageSize),
      placeholderData: keepPreviousData,
    },
  );
  const list = useNarrowed({ ...query, rows: query.data?.pages.flatMap(({ users }) => users) }, (users) => users, {
    key: request.search,
    isWhole: false,
  });
  const readPages = useReadPages();
  const pages = (signal: AbortSignal) => {
    let offset = -pageSize;
    return readPages(
      CouponService.method.getUsersMiniInfo,
      (answer) => {
        offset += pageSize;
        return answer !== undefined && answer.users.length < pageSize ? undefined : { ...request, offset };
      },
      ({ users }) => users,
      signal,
    );
  };
  return (
    <Page title="Users">
      <div className="bar">
        <TextField
          label="Search by name or mobile number"
          type="search"
          autoComplete="off"
          value={text}
          onChange={type}
        />
        <CsvButton name="users" columns={columns} pages={pages} />
      </div>
      <ListView
        what="the users"
        empty={request.search === '' ? 'No users yet.' : 'Nobody was found.'}
        caption="By name"
        list={list}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
      />
    </Page>
  );
}
