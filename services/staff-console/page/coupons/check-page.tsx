import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useLocation, useSearchParams } from 'react-router';
import { RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { amountProblem, readAmount } from '../business/money.ts';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { useProductNames } from '../lookup/names.ts';
import { ProductFilter, UserFilter } from '../lookup/record-filters.tsx';
import { readOrderKey } from '../redemptions/order.ts';
import { describeFailure } from '../rpc/failure.ts';
import { isSame } from '../rpc/merge.ts';
import { Loading, Page } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { CheckResult } from './check-result.tsx';

const text = words.check;

type Texts = Readonly<Record<'code' | 'user' | 'orderAmount' | 'orderKey', string>>;

/** A product of an order, by its id; its amount may be left out. */
type Line = Readonly<Record<'product' | 'amount', string>>;

const places = { code: 'code', orderAmount: 'orderAmount', orderKey: 'orderKey' };

/** Tells whether an order can use a coupon, by each condition, from what is known of the order. */
export function Component() {
  // Who follows a link here asks about another order.
  return <Check key={useLocation().key} />;
}

function Check() {
  const [params] = useSearchParams();
  const given = params.get('code') ?? '';
  const known = { code: given, user: params.get('user') ?? '', orderKey: params.get('order') ?? '', orderAmount: '' };
  const [texts, setTexts] = useState<Texts>(known);
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [asked, setAsked] = useState<ReturnType<typeof requestOf>>();
  const { data, error, isFetching, refetch, dataUpdatedAt } = useQuery(
    RedemptionService.method.check,
    asked ?? skipToken,
    // An answer holds only for the moment, so it is not cached. It is read again only when staff ask again.
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  );
  // The object must stay the same: a form shows a new one's problems again.
  const failure = useMemo(() => (error === null ? undefined : describeFailure(error)), [error]);
  const field = (name: keyof Texts) => ({
    ...{ name, autoComplete: 'off', value: texts[name], autoFocus: name === (given === '' ? 'code' : 'orderAmount') },
    onChange: (typed: string) => setTexts({ ...texts, [name]: typed }),
  });
  // The code of a link may have white space at its ends, which belongs to it. In what people paste, it does not.
  const typed = requestOf({ ...texts, code: texts.code === given ? given : texts.code.trim() }, lines);
  // The verdict belongs to what stands in the fields.
  const isAsked = isSame(typed, asked);
  return (
    <Page title={text.title}>
      <EditForm
        className="card"
        action={words.coupon.check}
        pending={text.checking}
        places={places}
        concerns={sumOf(lines) > (typed.orderAmount ?? Number.POSITIVE_INFINITY) ? [text.overOrder] : []}
        write={{ isPending: isFetching, failure: isAsked && !isFetching ? failure : undefined }}
        onSend={() => (isAsked ? void refetch() : setAsked(typed))}
      >
        <p>{text.explained}</p>
        <div className="row">
          <TextField label={words.fields.couponCode} {...field('code')} />
          <UserFilter label={words.fields.userId} none={text.notSaid} {...field('user')} />
          <TextField
            label={words.fields.orderAmount}
            inputMode="decimal"
            validate={amountProblem}
            {...field('orderAmount')}
          />
          <TextField label={words.orders.orderNumber} validate={orderKeyProblem} {...field('orderKey')} />
        </div>
        <LineFields lines={lines} onChange={setLines} />
      </EditForm>
      {isAsked && isFetching && data === undefined && <Loading what={text.theAnswer} />}
      {isAsked && data !== undefined && error === null && (
        <CheckResult
          key={dataUpdatedAt}
          answer={data}
          asked={{ ...typed, productIds: productIdsOf(lines), hasAmounts: hasAmounts(lines) }}
        />
      )}
    </Page>
  );
}

/** The products of an order with their amounts, and the place for one more. A line without a product goes. */
function LineFields({ lines, onChange }: { readonly lines: readonly Line[]; onChange(lines: readonly Line[]): void }) {
  const nameOf = useProductNames(productIdsOf(lines));
  const rows = [...lines, { product: '', amount: '' }];
  const change = (index: number, part: Partial<Line>) =>
    onChange(rows.map((line, n) => (n === index ? { ...line, ...part } : line)).filter(({ product }) => product));
  const problemOf = (amount: string) =>
    hasAmounts(lines) && amount.trim() === '' ? text.allAmounts : amountProblem(amount);
  return rows.map(({ product, amount }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a product may stand in several lines, and lines keep their order
    <div key={index} className="row">
      <ProductFilter
        label={product === '' && index > 0 ? text.anotherProduct : words.fields.productId}
        none={words.none}
        value={product}
        onChange={(chosen) => change(index, { product: chosen })}
      />
      {product !== '' && (
        <TextField
          label={text.amountOf(nameOf(Number(product)))}
          inputMode="decimal"
          autoComplete="off"
          value={amount}
          onChange={(typed) => change(index, { amount: typed })}
          validate={problemOf}
        />
      )}
    </div>
  ));
}

const orderKeyProblem = (typed: string) =>
  typed.trim() === '' || readOrderKey(typed) !== undefined ? undefined : text.orderNumberProblem;

const productIdsOf = (lines: readonly Line[]) => lines.map(({ product }) => Number(product));
const sumOf = (lines: readonly Line[]) => lines.reduce((sum, { amount }) => sum + readAmount(amount), 0);
const hasAmounts = (lines: readonly Line[]) => lines.some(({ amount }) => amount.trim() !== '');

function requestOf({ code, user, orderAmount, orderKey }: Texts, lines: readonly Line[]) {
  return {
    code,
    orderKey: readOrderKey(orderKey) ?? '',
    userId: readId(user),
    orderAmount: orderAmount.trim() === '' ? undefined : readAmount(orderAmount),
    ...(hasAmounts(lines)
      ? { lines: lines.map(({ product, amount }) => ({ productId: Number(product), amount: readAmount(amount) })) }
      : { productIds: productIdsOf(lines) }),
  };
}
