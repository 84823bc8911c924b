import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  type ListRedemptionsResponse,
  type Redemption,
  RedemptionService,
} from '../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { trailAddress } from '../audit/trail/filters.ts';
import { formatAmount } from '../business/money.ts';
import { formatTime, useNow } from '../business/time.tsx';
import { fileTime } from '../business/time-input.ts';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import type { Column } from '../lists/column.ts';
import { useFilters } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { byToken, useRows } from '../lists/source.ts';
import { useSearch } from '../lists/use-search.ts';
import { useUserNames } from '../lookup/names.ts';
import { UserFilter } from '../lookup/record-filters.tsx';
import { Badge, Section } from '../ui/page.tsx';
import { isolate, readId } from '../ui/text.ts';
import { Given } from './given.tsx';
import { readOrderKey } from './order-key.ts';
import { Release } from './release.tsx';
import { redemptionStates, stateOf } from './state.ts';

const stateOptions = redemptionStates.map(({ words }) => [words, words] as const);
const rowsOf = ({ redemptions }: ListRedemptionsResponse) => redemptions;

/** Lists the redemptions of a coupon or of a user as a section of its page, newest first. */
export function Redemptions(of: { readonly couponId: number } | { readonly userId: number }): ReactNode {
  const search = useSearch();
  const now = useNow(20_000);
  const { values, field } = useFilters(['state', 'user']);
  const isOfUser = 'userId' in of;
  const userId = isOfUser ? of.userId : readId(values.user);
  const request = {
    ...of,
    ...(userId !== undefined && { userId }),
    // Any other text should find nothing.
    ...(search.search.trim() !== '' && { orderKey: readOrderKey(search.search) ?? '%' }),
    states: redemptionStates.filter(({ words }) => words === values.state).map(({ state }) => state),
    limit: 50,
  };
  const source = { method: RedemptionService.method.listRedemptions, request, rowsOf, next: byToken };
  const { rows = [] } = useRows(source, false);
  const nameOf = useUserNames(isOfUser ? [] : [...new Set(rows.map((row) => row.userId))]);
  const isFiltered = 'orderKey' in request || request.states.length > 0 || (!isOfUser && userId !== undefined);
  return (
    <Section title="Redemptions">
      <div className="bar">
        <TextField label="Order, in full" {...search.field} />
        <SelectField label="State" none="Any" options={stateOptions} {...field('state')} />
        {!isOfUser && <UserFilter {...field('user')} />}
      </div>
      <List
        source={source}
        what="redemptions"
        empty={isFiltered ? 'No redemption matches.' : 'No redemptions yet.'}
        caption="Newest first"
        columns={[
          ...orderColumns,
          isOfUser
            ? {
                title: 'Coupon',
                show: ({ couponId }) => <Link href={`/coupons/${couponId}`}>Coupon {couponId}</Link>,
                text: ({ couponId }) => String(couponId),
                file: [{ title: 'Coupon number', text: ({ couponId }) => String(couponId) }],
                className: 'name',
              }
            : {
                title: 'User',
                show: (row) => <Link href={`/users/${row.userId}`}>{nameOf(row.userId)}</Link>,
                // In a file: names are known for the rows on show only.
                text: ({ userId }) => String(userId),
                file: [{ title: 'User number', text: ({ userId }) => String(userId) }],
              },
          ...amountColumns(now),
        ]}
        keyOf={({ id }) => id}
      />
    </Section>
  );
}

const orderColumns: readonly Column<Redemption>[] = [
  {
    title: 'Redemption',
    show: ({ id }) => <Link href={trailAddress({ type: 'redemption', id: String(id) })}>Redemption {id}</Link>,
    text: ({ id }) => String(id),
    className: 'name',
  },
  { title: 'Order', show: ({ orderKey }) => isolate(orderKey), text: ({ orderKey }) => orderKey },
];

const amountColumns = (now: number): readonly Column<Redemption>[] => [
  {
    title: 'Order amount',
    show: ({ orderAmount }) => formatAmount(orderAmount),
    text: ({ orderAmount }) => orderAmount,
    className: 'number',
  },
  {
    title: 'Discount',
    file: [{ title: 'Discount by its terms', text: ({ discountAmount }) => discountAmount }],
    show: ({ orderAmount, discountAmount }) => <Given discount={discountAmount} most={Number(orderAmount)} />,
    text: ({ discountAmount }) => discountAmount,
    className: 'number',
  },
  {
    title: 'State',
    show: (redemption) => {
      const state = stateOf(redemption, now);
      return state && <Badge kind={state.kind}>{state.words}</Badge>;
    },
    text: (redemption) => stateOf(redemption, now)?.words ?? '',
  },
  {
    title: 'When',
    text: (redemption) => describeWhen(redemption, now),
    file: [
      { title: 'Held', text: ({ createdAt }) => fileTime(createdAt), isTime: true },
      { title: 'Held until', text: ({ heldUntil }) => fileTime(heldUntil), isTime: true },
      { title: 'Used', text: ({ usedAt }) => fileTime(usedAt), isTime: true },
      { title: 'Released', text: ({ releasedAt }) => fileTime(releasedAt), isTime: true },
    ],
  },
  {
    title: 'Release',
    show: (redemption) => <Release redemption={redemption} />,
    text: ({ releasedAt }) => formatTime(releasedAt),
    file: [],
    className: 'name',
  },
];

function describeWhen({ heldUntil, usedAt, createdAt }: Redemption, now: number): string {
  if (heldUntil !== undefined) {
    return `${timestampMs(heldUntil) > now ? 'Held until' : 'Ran out'} ${formatTime(heldUntil)}`;
  }
  return usedAt === undefined ? `Held ${formatTime(createdAt)}` : `Used ${formatTime(usedAt)}`;
}
