import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { TextField } from '../forms/text-field.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { Endless } from '../ui/endless.tsx';
import { Empty, Loading, Page, Problem } from '../ui/page.tsx';
import { useSearch } from '../ui/use-search.ts';

const pageSize = 20;

/** Lists the users by name. */
export function Component(): ReactNode {
  const { text, search, type } = useSearch();
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    CouponService.method.getUsersMiniInfo,
    { search, limit: pageSize, offset: 0 },
    {
      pageParamKey: 'offset',
      getNextPageParam: ({ users }, pages) => (users.length < pageSize ? undefined : pages.length * pageSize),
      placeholderData: keepPreviousData,
    },
  );
  const users = data?.pages.flatMap((page) => page.users);
  return (
    <Page title="Users">
      <TextField
        label="Search by name or mobile number"
        type="search"
        autoComplete="off"
        value={text}
        onChange={type}
      />
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {users === undefined && error === null && <Loading what="the users" />}
      {users?.length === 0 && <Empty>{search === '' ? 'No users yet.' : 'Nobody was found.'}</Empty>}
      {users !== undefined && users.length > 0 && (
        <table className="list">
          <caption>By name</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Mobile number</th>
            </tr>
          </thead>
          <tbody>
            {users.map(({ id, name, mobile }) => (
              <tr key={id}>
                <th scope="row">{name}</th>
                <td data-label="Mobile number">{mobile}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Endless
        hasMore={hasNextPage}
        isLoading={isFetchingNextPage}
        hasFailed={error !== null}
        onMore={() => void fetchNextPage()}
      />
    </Page>
  );
}
