import { useState } from 'react';
import type { ListedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { useNow } from '../business/time.tsx';
import { describeSkipped, fromTimeInput, readTimeInput } from '../business/time-input.ts';
import { EditForm } from '../forms/edit-form.tsx';
import { TimeField } from '../forms/time-field.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { counted, words } from '../words.ts';
import { endOf } from './record/terms-columns.tsx';

const text = words.coupons.bulk;

interface ExtendDialogProps {
  readonly coupons: readonly ListedCoupon[];
  /** How far it is; undefined until it begins. */
  readonly progress: string | undefined;
  /** @param validTill the new end, for the service. */
  onExtend(validTill: string): void;
  onClose(): void;
}

/** Asks for a new end of several coupons. */
export function ExtendDialog({ coupons, progress, onExtend, onClose }: ExtendDialogProps) {
  const [end, setEnd] = useState('');
  const now = useNow(20_000);
  const at = readTimeInput(end)?.getTime() ?? Number.POSITIVE_INFINITY;
  const sooner = coupons.filter((coupon) => endOf(coupon) > at).length;
  const concerns = [
    ...(at < now ? [text.endsAtOnce] : []),
    ...(sooner > 0 ? [text.sooner(counted(sooner, text.what))] : []),
    ...describeSkipped(words.coupon.concerns.end, end),
  ];
  return (
    <Dialog title={text.extendTitle(counted(coupons.length, text.what))} isOpen onClose={onClose}>
      <EditForm
        action={text.extendNow}
        {...(progress !== undefined && { pending: progress })}
        write={{ isPending: progress !== undefined, failure: undefined }}
        concerns={concerns}
        onSend={() => onExtend(fromTimeInput(end))}
        onCancel={onClose}
      >
        <TimeField label={text.newEnd} isRequired value={end} onChange={setEnd} />
      </EditForm>
    </Dialog>
  );
}
