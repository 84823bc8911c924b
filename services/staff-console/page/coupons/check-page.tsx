import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useSearchParams } from 'react-router';
import { CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { TextField } from '../forms/text-field.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { Button } from '../ui/button.tsx';
import { Loading, Page, Problem } from '../ui/page.tsx';
import { CheckResult } from './check-result.tsx';
import { amountProblem } from './record/terms-fields.tsx';
import './record/coupons.css';

/** Shows how much a coupon code takes off an order, or why it takes nothing off. */
export function Component(): ReactNode {
  const [params] = useSearchParams();
  const [code, setCode] = useState(params.get('code') ?? '');
  const [amount, setAmount] = useState('');
  const [asked, setAsked] = useState<{ readonly code: string; readonly orderAmount: number }>();
  const { data, error, isFetching, refetch } = useQuery(
    CouponService.method.validate,
    // The order's user does not matter (spec 4.2).
    asked === undefined ? skipToken : { ...asked, userId: 0 },
    // An answer holds only for the moment, so it is not cached. It is read again only when staff ask again.
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  );
  const check = () => {
    const next = { code: code.trim(), orderAmount: Number(amount) };
    if (next.code === asked?.code && next.orderAmount === asked.orderAmount) void refetch();
    else setAsked(next);
  };
  return (
    <Page title="Check a coupon">
      <Form
        className="card"
        onSubmit={(event) => {
          event.preventDefault();
          check();
        }}
      >
        <TextField label="Code" name="code" autoComplete="off" value={code} onChange={setCode} />
        <TextField
          label="Order amount"
          name="orderAmount"
          inputMode="decimal"
          autoComplete="off"
          isRequired
          validate={amountProblem}
          value={amount}
          onChange={setAmount}
        />
        <div className="actions">
          <Button type="submit" emphasis="primary" isPending={isFetching}>
            {isFetching ? 'Checking…' : 'Check'}
          </Button>
        </div>
      </Form>
      {isFetching && data === undefined && <Loading what="the answer" />}
      {error !== null && !isFetching && <Problem failure={describeFailure(error)} />}
      {data !== undefined && error === null && asked !== undefined && <CheckResult answer={data} {...asked} />}
    </Page>
  );
}
