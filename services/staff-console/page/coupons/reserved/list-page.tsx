import { type ReactNode, useState } from 'react';
import { CouponService, type ListedReservedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { ClaimResponse } from '../../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { useNow } from '../../business/time.tsx';
import { SelectField } from '../../forms/select-field.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { orderOf } from '../../lists/column.ts';
import { useFilters } from '../../lists/filters.ts';
import { List } from '../../lists/list.tsx';
import { byToken } from '../../lists/source.ts';
import { useSearch } from '../../lists/use-search.ts';
import { Views } from '../../lists/views.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { Issued } from '../issue/issued.tsx';
import { reservedColumns, reservedState } from '../record/reserved-columns.tsx';
import { describeTerms } from '../record/validity.tsx';
import { couponViews } from '../record/words.ts';
import { ClaimDialog } from './claim-dialog.tsx';

const states = [
  ['Valid', 'Not redeemed'],
  ['Scheduled', 'Scheduled'],
  ['Redeemed', 'Redeemed'],
  ['Expired', 'Expired'],
] as const;

/** Lists the reserved coupons: latest first, or as staff sort and filter them. */
export function Component(): ReactNode {
  const search = useSearch();
  const { values, set, field } = useFilters(['state', 'sort']);
  const now = useNow(20_000);
  const order = orderOf({ values, set });
  const [secretCode, setSecretCode] = useState<string>();
  const [claimed, setClaimed] = useState<ClaimResponse>();
  const columns = reservedColumns(now, (coupon) => (
    <Button aria-label={`Claim for…: ${coupon.secretCode}`} onPress={() => setSecretCode(coupon.secretCode)}>
      Claim for…
    </Button>
  ));
  const isWhole = values.state !== '' || values.sort !== '';
  const request = { search: search.search.trim(), limit: isWhole ? 1_000 : 50 };
  const matches = (coupon: ListedReservedCoupon) => values.state === '' || reservedState(coupon, now) === values.state;
  return (
    <Page
      title="Reserved coupons"
      actions={
        <ButtonLink href="/coupons/reserved/new" emphasis="primary">
          New reserved coupon
        </ButtonLink>
      }
    >
      {claimed?.coupon !== undefined && (
        <Issued
          // Its heading takes the focus anew.
          key={claimed.coupon.id}
          what={`The coupon for ${nameOfUser(claimed)}`}
          code={claimed.coupon.couponCode}
          href={`/coupons/${claimed.coupon.id}`}
          another="Done"
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
      <Views label="Kinds of coupons" links={couponViews}>
        <TextField label="Search by secret code or code" {...search.field} />
        <SelectField label="State" none="Any" options={states} {...field('state')} />
      </Views>
      <List
        source={{
          method: CouponService.method.getReservedCoupons,
          request,
          rowsOf: ({ coupons }) => coupons,
          next: byToken,
        }}
        matches={matches}
        isWhole={isWhole}
        what="reserved coupons"
        empty={
          request.search === '' && values.state === '' ? 'No reserved coupons yet.' : 'No reserved coupon matches.'
        }
        caption="A secret code leads to the history of its coupon. Several of them may give the same code."
        columns={columns}
        keyOf={({ id }) => id}
        order={order}
      />
    </Page>
  );
}

function nameOfUser({ reservedCoupon }: ClaimResponse): string {
  return isolate(reservedCoupon?.redeemedUser?.name || 'Unknown');
}
