import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useSearchParams } from 'react-router';
import { CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { amountProblem, readAmount } from '../business/money.ts';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { describeFailure } from '../rpc/failure.ts';
import { Loading, Page, Problem } from '../ui/page.tsx';
import { CheckResult } from './check-result.tsx';
import './record/coupons.css';

/** Shows how much a coupon code takes off an order, or why it takes nothing off. */
export function Component(): ReactNode {
  const [params] = useSearchParams();
  const given = params.get('code') ?? '';
  const [code, setCode] = useState(given);
  const [amount, setAmount] = useState('');
  const [asked, setAsked] = useState<{ readonly code: string; readonly orderAmount: number }>();
  const { data, error, isFetching, refetch, dataUpdatedAt } = useQuery(
    CouponService.method.validate,
    // The order's user does not matter (spec 4.2).
    asked === undefined ? skipToken : { ...asked, userId: 0 },
    // An answer holds only for the moment, so it is not cached. It is read again only when staff ask again.
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  );
  // The code of a link may have white space at its ends, which belongs to it. In what people paste, it does not.
  const typed = { code: code === given ? code : code.trim(), orderAmount: readAmount(amount) };
  // The verdict belongs to what stands in the fields.
  const isAsked = typed.code === asked?.code && typed.orderAmount === asked.orderAmount && amount.trim() !== '';
  return (
    <Page title="Check a coupon">
      <EditForm
        className="card"
        action="Check"
        pending="Checking…"
        write={{ isPending: isFetching, failure: undefined }}
        onSend={() => (isAsked ? void refetch() : setAsked(typed))}
      >
        <div className="row">
          <TextField
            label="Code"
            name="code"
            autoComplete="off"
            autoFocus={given === ''}
            value={code}
            onChange={setCode}
          />
          <TextField
            label="Order amount"
            name="orderAmount"
            inputMode="decimal"
            autoComplete="off"
            autoFocus={given !== ''}
            isRequired
            validate={amountProblem}
            value={amount}
            onChange={setAmount}
          />
        </div>
      </EditForm>
      {isAsked && isFetching && data === undefined && <Loading what="the answer" />}
      {isAsked && error !== null && !isFetching && <Problem failure={describeFailure(error)} />}
      {isAsked && data !== undefined && error === null && <CheckResult key={dataUpdatedAt} answer={data} {...typed} />}
    </Page>
  );
}
