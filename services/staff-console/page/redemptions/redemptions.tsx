import { Link } from 'react-aria-components/Link';
import { type ListRedemptionsResponse, type Redemption, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { formatAmount } from '../business/money.ts';
import { useNow } from '../business/time.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import type { Column } from '../lists/column.ts';
import { useFilters, useSearch } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { useRows } from '../lists/source.ts';
import { useCouponCodes, useUserNames } from '../lookup/names.ts';
import { UserFilter } from '../lookup/record-filters.tsx';
import { Section } from '../ui/page.tsx';
import { isolate, readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { Given } from './given.tsx';
import { stateColumn, userColumn } from './hold-columns.tsx';
import { orderPath, readOrderKey } from './order-key.ts';
import { Release } from './release.tsx';
import { redemptionStates } from './state.ts';

const text = words.orders;
const stateOptions = redemptionStates.map(({ words }) => [words, words] as const);
const rowsOf = ({ redemptions }: ListRedemptionsResponse) => redemptions;

type Of = { readonly couponId: number } | { readonly userId: number } | { readonly orderKey: string };

/** Lists the redemptions of a coupon, a customer or an order as a section of its page, newest first. */
export function Redemptions(of: Of) {
  const { search, field: searchField } = useSearch();
  const now = useNow(20_000);
  const { values, field } = useFilters(['state', 'user']);
  const [isOfUser, isOfOrder] = ['userId' in of, 'orderKey' in of];
  const userId = readId(values.user);
  const request = {
    ...(userId !== undefined && { userId }),
    // Any other text should find nothing.
    ...(search !== '' && { orderKey: readOrderKey(search) ?? '%' }),
    states: redemptionStates.filter(({ words }) => words === values.state).map(({ state }) => state),
    ...of,
  };
  const source = { method: RedemptionService.method.listRedemptions, request, rowsOf };
  const { rows = [] } = useRows(source, false);
  const nameOf = useUserNames(isOfUser ? [] : [...new Set(rows.map((row) => row.userId))]);
  const codes = useCouponCodes('couponId' in of ? [] : [...new Set(rows.map((row) => row.couponId))]);
  return (
    <Section title={text.redemptions}>
      {!isOfOrder && (
        <div className="bar">
          <TextField label={text.orderNumber} placeholder={text.orderNumber} {...searchField} />
          <SelectField label={text.state} none={words.lookup.any} options={stateOptions} {...field('state')} />
          {!isOfUser && <UserFilter {...field('user')} />}
        </div>
      )}
      <List
        source={source}
        what={text.what}
        empty={text.none}
        noMatch={text.noMatch}
        caption={text.newest}
        columns={[
          ...(isOfOrder ? [] : [orderColumn]),
          ...('couponId' in of ? [] : [couponColumn(codes)]),
          ...(isOfUser ? [] : [userColumn(nameOf)]),
          ...amountColumns(now),
        ]}
      />
    </Section>
  );
}

const orderColumn: Column<Redemption> = {
  title: text.order,
  show: ({ orderKey }) => <Link href={orderPath(orderKey)}>{isolate(orderKey)}</Link>,
  text: ({ orderKey }) => orderKey,
};

const couponColumn = (codes: ReadonlyMap<number, string>): Column<Redemption> => ({
  title: text.coupon,
  show: ({ couponId }) => (
    <Link href={`/coupons/${couponId}`}>{codes.get(couponId) ?? text.couponNumbered(couponId)}</Link>
  ),
  text: ({ couponId }) => String(couponId),
  file: [{ title: text.couponNumber, text: ({ couponId }) => String(couponId) }],
  className: 'code',
});

const amountColumns = (now: number): readonly Column<Redemption>[] => [
  {
    title: text.amount,
    show: ({ orderAmount }) => formatAmount(orderAmount),
    text: ({ orderAmount }) => orderAmount,
    className: 'number',
  },
  {
    title: text.discount,
    file: [{ title: text.byTerms, text: ({ discountAmount }) => discountAmount }],
    show: ({ orderAmount, discountAmount }) => <Given discount={discountAmount} most={Number(orderAmount)} />,
    text: ({ discountAmount }) => discountAmount,
    className: 'number',
  },
  stateColumn(now),
  {
    title: text.return,
    show: (redemption) => <Release redemption={redemption} />,
    text: ({ id }) => String(id),
    file: [{ title: text.number, text: ({ id }) => String(id) }],
    className: 'name',
  },
];
