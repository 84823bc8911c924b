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
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import type { Column } from '../lists/column.ts';
import { useFilters } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { byToken, useRows } from '../lists/source.ts';
import { useSearch } from '../lists/use-search.ts';
import { useCouponCodes, useUserNames } from '../lookup/names.ts';
import { UserFilter } from '../lookup/record-filters.tsx';
import { Section } from '../ui/page.tsx';
import { isolate, readId } from '../ui/text.ts';
import { Given } from './given.tsx';
import { stateColumns, userColumn } from './hold-columns.tsx';
import { orderPath, readOrderKey } from './order-key.ts';
import { Release } from './release.tsx';
import { redemptionStates } from './state.ts';

const stateOptions = redemptionStates.map(({ words }) => [words, words] as const);
const rowsOf = ({ redemptions }: ListRedemptionsResponse) => redemptions;

type Of = { readonly couponId: number } | { readonly userId: number } | { readonly orderKey: string };

/** Lists the redemptions of a coupon, a user or an order as a section of its page, newest first. */
export function Redemptions(of: Of): ReactNode {
  const search = useSearch();
  const now = useNow(20_000);
  const { values, field } = useFilters(['state', 'user']);
  const [isOfUser, isOfOrder] = ['userId' in of, 'orderKey' in of];
  const userId = readId(values.user);
  const request = {
    ...(userId !== undefined && { userId }),
    // Any other text should find nothing.
    ...(search.search.trim() !== '' && { orderKey: readOrderKey(search.search) ?? '%' }),
    states: redemptionStates.filter(({ words }) => words === values.state).map(({ state }) => state),
    limit: 50,
    ...of,
  };
  const source = { method: RedemptionService.method.listRedemptions, request, rowsOf, next: byToken };
  const { rows = [] } = useRows(source, false);
  const nameOf = useUserNames(isOfUser ? [] : [...new Set(rows.map((row) => row.userId))]);
  const codes = useCouponCodes(isOfOrder ? [...new Set(rows.map((row) => row.couponId))] : []);
  const isFiltered = `${values.user}${values.state}${search.search.trim()}` !== '';
  return (
    <Section title="Redemptions">
      {!isOfOrder && (
        <div className="bar">
          <TextField label="Order, in full" {...search.field} />
          <SelectField label="State" none="Any" options={stateOptions} {...field('state')} />
          {!isOfUser && <UserFilter {...field('user')} />}
        </div>
      )}
      <List
        source={source}
        what="redemptions"
        empty={isFiltered ? 'No redemption matches.' : 'No redemptions yet.'}
        caption="Newest first"
        columns={[
          redemptionColumn,
          ...(isOfOrder ? [] : [orderColumn]),
          ...('couponId' in of ? [] : [couponColumn(codes)]),
          ...(isOfUser ? [] : [userColumn(nameOf)]),
          ...amountColumns(now),
        ]}
        keyOf={({ id }) => id}
      />
    </Section>
  );
}

const redemptionColumn: Column<Redemption> = {
  title: 'Redemption',
  show: ({ id }) => <Link href={trailAddress({ type: 'redemption', id: String(id) })}>Redemption {id}</Link>,
  text: ({ id }) => String(id),
  className: 'name',
};

const orderColumn: Column<Redemption> = {
  title: 'Order',
  show: ({ orderKey }) => <Link href={orderPath(orderKey)}>{isolate(orderKey)}</Link>,
  text: ({ orderKey }) => orderKey,
};

const couponColumn = (codes: ReadonlyMap<number, string>): Column<Redemption> => ({
  title: 'Coupon',
  show: ({ couponId }) => <Link href={`/coupons/${couponId}`}>{codes.get(couponId) ?? `Coupon ${couponId}`}</Link>,
  text: ({ couponId }) => String(couponId),
  file: [{ title: 'Coupon number', text: ({ couponId }) => String(couponId) }],
  className: 'name',
});

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
  ...stateColumns('Used', now),
  {
    title: 'Release',
    show: (redemption) => <Release redemption={redemption} />,
    text: ({ releasedAt }) => formatTime(releasedAt),
    file: [],
    className: 'name',
  },
];
