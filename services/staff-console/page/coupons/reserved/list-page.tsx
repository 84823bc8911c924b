import { useState } from 'react';
import {
  CouponService,
  type GetReservedCouponsResponse,
  type ListedReservedCoupon,
} from '#gen/coupon/v1/coupon_service_pb';
import type { ClaimResponse } from '#gen/coupon/v1/redemption_service_pb';
import { useNow } from '../../business/time.tsx';
import { SelectField } from '../../forms/select-field.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useFilters, useSearch } from '../../lists/filters.ts';
import { List } from '../../lists/list.tsx';
import { Views } from '../../lists/views.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { Issued } from '../issue/issued.tsx';
import { reservedColumns, reservedState } from '../record/reserved-columns.tsx';
import { describeTerms } from '../record/summary.ts';
import { couponViews } from '../record/words.ts';
import { ClaimDialog } from './claim-dialog.tsx';

const text = words.coupons.reserved;
const create = { name: text.newOne, href: '/coupons/reserved/new' };
const rowsOf = ({ coupons }: GetReservedCouponsResponse) => coupons;
const { scheduled, expired } = words.coupons.states;
const states = [text.notClaimed, scheduled, text.claimed, expired].map((state) => [state, state] as const);

/** Lists the reserved coupons: latest first, or as staff sort and filter them. */
export function Component() {
  const { search, field: searchField } = useSearch();
  const { values, order, field } = useFilters(['state']);
  const now = useNow(20_000);
  const [secretCode, setSecretCode] = useState<string>();
  const [claimed, setClaimed] = useState<ClaimResponse>();
  const columns = reservedColumns(now, (coupon) => (
    <Button aria-label={text.claimOf(coupon.secretCode)} onPress={() => setSecretCode(coupon.secretCode)}>
      {text.claimFor}
    </Button>
  ));
  const matches = (coupon: ListedReservedCoupon) => reservedState(coupon, now) === values.state;
  return (
    <Page title={text.title} create={create}>
      {claimed?.coupon !== undefined && (
        <Issued
          // Its heading takes the focus anew.
          key={claimed.coupon.id}
          what={words.coupon.phone.issued(nameOfUser(claimed))}
          code={claimed.coupon.couponCode}
          href={`/coupons/${claimed.coupon.id}`}
          another={text.done}
          onAnother={() => setClaimed(undefined)}
        >
          <p>{describeTerms(claimed.coupon)}.</p>
        </Issued>
      )}
      {secretCode !== undefined && (
        <ClaimDialog
          secretCode={secretCode}
          onClaimed={(answer) => {
            setClaimed(answer);
            setSecretCode(undefined);
          }}
          onClose={() => setSecretCode(undefined)}
        />
      )}
      <Views label={words.coupons.kinds} links={couponViews}>
        <TextField label={text.search} {...searchField} />
        <SelectField label={words.coupons.state} none={words.coupons.any} options={states} {...field('state')} />
      </Views>
      <List
        source={{ method: CouponService.method.getReservedCoupons, request: { search, withTotal: true }, rowsOf }}
        matches={values.state === '' ? undefined : matches}
        what={text.what}
        empty={text.none}
        create={create}
        noMatch={text.noMatch}
        caption={words.coupons.newestFirst}
        columns={columns}
        order={order}
      />
    </Page>
  );
}

function nameOfUser({ reservedCoupon }: ClaimResponse): string {
  return isolate(reservedCoupon?.redeemedUser?.name || words.lookup.unnamed);
}
