import { useState } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  CouponService,
  type GetReservedCouponsResponse,
  type ListedReservedCoupon,
} from '#gen/coupon/v1/coupon_service_pb';
import { type ClaimResponse, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { useNow } from '../../business/time.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import type { Option } from '../../forms/pick-many.tsx';
import { SelectField } from '../../forms/select-field.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { type Column, textColumn } from '../../lists/column.tsx';
import { useFilters, useSearch } from '../../lists/filters.ts';
import { List } from '../../lists/list.tsx';
import { Views } from '../../lists/views.tsx';
import { describeUser, isGone } from '../../lookup/names.ts';
import { UserPicker } from '../../lookup/pickers.tsx';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Badge, Page } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { Issued } from '../issue/issued.tsx';
import { createdColumn, secretColumn, termsColumns } from '../record/columns.tsx';
import { couponViews, stateOf } from '../record/words.ts';

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
  /** Says in a word whether it was claimed or, if not, whether it can be. */
  const stateIn = (coupon: ListedReservedCoupon) => {
    const state = stateOf(coupon, now);
    if (coupon.redeemedUser !== undefined) return text.claimed;
    return state === 'active' ? text.notClaimed : words.coupons.states[state];
  };
  const showClaimant = (coupon: ListedReservedCoupon) => {
    const { redeemedUser: user } = coupon;
    if (user === undefined) {
      if (stateIn(coupon) === expired) return text.nobodyYet;
      return (
        <Button aria-label={text.claimOf(coupon.secretCode)} onPress={() => setSecretCode(coupon.secretCode)}>
          {text.claimFor}
        </Button>
      );
    }
    if (isGone(user)) return text.deleted;
    return (
      <Link href={`/users/${user.id}`}>
        <span title={user.mobile}>{isolate(user.name || words.lookup.unnamed)}</span>
      </Link>
    );
  };
  const columns: readonly Column<ListedReservedCoupon>[] = [
    secretColumn,
    textColumn(words.fields.couponCode, ({ couponCode }) => couponCode, {
      show: ({ couponCode }) => isolate(couponCode),
      className: 'code',
    }),
    ...termsColumns,
    textColumn(words.fields.redeemedUser, claimantOf, {
      show: showClaimant,
      file: [
        { title: words.fields.redeemedUser, text: (coupon) => coupon.redeemedUser?.name ?? claimantOf(coupon) },
        { title: words.fields.mobile, text: ({ redeemedUser }) => redeemedUser?.mobile ?? '' },
      ],
    }),
    textColumn(words.fields.state, stateIn, {
      show: (coupon) => <Badge kind={stateIn(coupon) === text.notClaimed ? 'good' : 'plain'}>{stateIn(coupon)}</Badge>,
    }),
    createdColumn,
  ];
  return (
    <Page title={text.title} create={create}>
      {claimed?.coupon !== undefined && (
        <Issued
          // Its heading takes the focus anew.
          key={claimed.coupon.id}
          what={words.coupon.phone.issued(isolate(claimed.reservedCoupon?.redeemedUser?.name || words.lookup.unnamed))}
          coupon={claimed.coupon}
          another={text.done}
          onAnother={() => setClaimed(undefined)}
        />
      )}
      {secretCode !== undefined && (
        <ClaimDialog
          secretCode={secretCode}
          onClose={(answer = claimed) => {
            setClaimed(answer);
            setSecretCode(undefined);
          }}
        />
      )}
      <Views label={words.coupons.kinds} links={couponViews}>
        <TextField label={text.search} {...searchField} />
        <SelectField label={words.fields.state} none={words.any} options={states} {...field('state')} />
      </Views>
      <List
        source={{ method: CouponService.method.getReservedCoupons, request: { search, withTotal: true }, rowsOf }}
        matches={values.state === '' ? undefined : (coupon) => stateIn(coupon) === values.state}
        what={text.what}
        empty={text.none}
        create={create}
        noMatch={text.noMatch}
        caption={words.newestFirst}
        columns={columns}
        order={order}
      />
    </Page>
  );
}

function claimantOf({ redeemedUser }: ListedReservedCoupon): string {
  if (redeemedUser === undefined) return '';
  return isGone(redeemedUser) ? text.deleted : describeUser(redeemedUser);
}

/** Asks for which customer a reserved coupon is claimed, and claims it. */
function ClaimDialog({ secretCode, onClose }: { readonly secretCode: string; onClose(answer?: ClaimResponse): void }) {
  const [user, setUser] = useState<Option>();
  const [isMissing, setIsMissing] = useState(false);
  const claim = useWrite(RedemptionService.method.claim, () => ({ text: text.claimDone(secretCode) }));
  const send = async () => {
    setIsMissing(user === undefined);
    if (user === undefined) return;
    const { answer } = await claim.send({ secretCode, userId: user.id });
    if (answer !== undefined) onClose(answer);
  };
  return (
    <Dialog title={text.claimTitle(isolate(secretCode))} isOpen onClose={onClose}>
      <EditForm action={text.claim} pending={text.claiming} write={claim} onSend={() => void send()} onCancel={onClose}>
        <p>{text.claimExplained}</p>
        <UserPicker
          autoFocus
          label={words.fields.userId}
          chosen={user ? [user] : []}
          onChange={(chosen) => setUser(chosen.at(-1))}
          problem={isMissing && user === undefined ? text.chooseCustomer : undefined}
        />
      </EditForm>
    </Dialog>
  );
}
