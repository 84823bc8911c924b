import { Link } from 'react-aria-components/Link';
import { type ListRedemptionsResponse, type Redemption, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { useNow } from '../business/time.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import type { Column } from '../lists/column.tsx';
import { useFilters, useSearch } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { useRows } from '../lists/source.ts';
import { useCouponCodes, useUserNames } from '../lookup/names.ts';
import { UserFilter } from '../lookup/record-filters.tsx';
import { Button } from '../ui/button.tsx';
import { Section } from '../ui/page.tsx';
import { isolate, readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { stateColumn, useRowDialog, userColumn } from './holds.tsx';
import { orderPath, readOrderKey } from './order.ts';
import { ReleaseDialog } from './release-dialog.tsx';
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
  const [isOfUser, isOfOrder, isOfCoupon] = ['userId' in of, 'orderKey' in of, 'couponId' in of];
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
  const codes = useCouponCodes(isOfCoupon ? [] : [...new Set(rows.map((row) => row.couponId))]);
  const { open, shown } = useRowDialog();
  const returnColumn: Column<Redemption> = {
    title: text.return,
    show: (redemption) =>
      redemption.releasedAt === undefined && (
        <Button
          emphasis="quiet"
          aria-label={text.returnFor(redemption.orderKey)}
          onPress={() =>
            open((onClose, onDone) => <ReleaseDialog redemption={redemption} onClose={onClose} onDone={onDone} />)
          }
        >
          {text.returnButton}
        </Button>
      ),
    text: ({ id }) => String(id),
    file: [{ title: text.number, text: ({ id }) => String(id) }],
    className: 'name',
  };
  return (
    <Section title={text.redemptions}>
      {!isOfOrder && (
        <div className="bar">
          <TextField label={text.orderNumber} placeholder={text.orderNumber} {...searchField} />
          <SelectField label={words.fields.state} none={words.any} options={stateOptions} {...field('state')} />
          {!isOfUser && <UserFilter {...field('user')} />}
        </div>
      )}
      <List
        source={source}
        what={text.what}
        empty={text.none}
        {...(!isOfOrder && { noMatch: text.noMatch })}
        caption={words.newestFirst}
        columns={[
          ...(isOfOrder ? [] : [orderColumn]),
          ...(isOfCoupon ? [] : [couponColumn(codes)]),
          ...(isOfUser ? [] : [userColumn(nameOf)]),
          ...amountColumns,
          stateColumn(now),
          returnColumn,
        ]}
      />
      {shown}
    </Section>
  );
}

const orderColumn: Column<Redemption> = {
  title: words.fields.orderKey,
  show: ({ orderKey }) => <Link href={orderPath(orderKey)}>{isolate(orderKey)}</Link>,
  text: ({ orderKey }) => orderKey,
};

const couponColumn = (codes: ReadonlyMap<number, string>): Column<Redemption> => ({
  title: words.fields.couponId,
  show: ({ couponId }) => (
    <Link href={`/coupons/${couponId}`}>{codes.get(couponId) ?? text.couponNumbered(couponId)}</Link>
  ),
  text: ({ couponId }) => String(couponId),
  file: [{ title: text.couponNumber, text: ({ couponId }) => String(couponId) }],
  className: 'code',
});

const amountColumns: readonly Column<Redemption>[] = [
  {
    title: words.fields.orderAmount,
    show: ({ orderAmount }) => formatAmount(orderAmount),
    text: ({ orderAmount }) => orderAmount,
    className: 'number',
  },
  {
    title: words.fields.discountAmount,
    file: [{ title: text.byTerms, text: ({ discountAmount }) => discountAmount }],
    show: Given,
    text: ({ discountAmount }) => discountAmount,
    className: 'number',
  },
];

/** Shows a discount as it was given, at most the order's amount, and what the coupon's terms say if that is another one. */
function Given({ orderAmount, discountAmount }: Redemption) {
  const given = formatAmount(Math.min(Number(discountAmount), Number(orderAmount)), currencyDigits());
  const byTerms = formatAmount(discountAmount);
  return (
    <>
      {given}
      {given !== byTerms && <span className="detail"> {text.givenByTerms(byTerms)}</span>}
    </>
  );
}
