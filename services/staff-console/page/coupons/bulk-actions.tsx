import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useState } from 'react';
import { CouponService, type ListedCoupon, type UpdateRequestSchema } from '#gen/coupon/v1/coupon_service_pb';
import { useNow } from '../business/time.tsx';
import { describeSkipped, fromTimeInput, readTimeInput } from '../business/time-input.ts';
import { EditForm } from '../forms/edit-form.tsx';
import { useQuestion } from '../forms/question.tsx';
import { TimeField } from '../forms/time-field.tsx';
import type { Column } from '../lists/column.tsx';
import { CsvButton } from '../lists/csv-button.tsx';
import type { Selection } from '../lists/selection.tsx';
import { notify } from '../rpc/notices.ts';
import { type SentEach, useWriteEach } from '../rpc/write.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { counted, words } from '../words.ts';
import { endOf } from './record/columns.tsx';

const text = words.coupons.bulk;

/** Of more coupons that were refused, a notice names the first ones. */
const namedMost = 3;

interface BulkActionsProps {
  readonly selection: Selection<ListedCoupon>;
  readonly columns: readonly Column<ListedCoupon>[];
}

/** What can be done with the coupons that are selected: one call each, in turn, and it can be undone. */
export function BulkActions({ selection, columns }: BulkActionsProps) {
  const { rows } = selection;
  // The new end that is asked for; undefined until it is.
  const [end, setEnd] = useState<string>();
  const now = useNow(20_000);
  const [at, setAt] = useState<number>();
  const updateEach = useWriteEach(CouponService.method.update);
  const active = rows.filter(({ isInvalidated }) => !isInvalidated);
  /** Tells what became of the coupons, and keeps those selected that were refused. */
  const finish = (
    coupons: readonly ListedCoupon[],
    { failed, refused }: SentEach<{ readonly id: number }, unknown>,
    done: (what: string) => string,
    back: (coupon: ListedCoupon) => MessageInitShape<typeof UpdateRequestSchema>,
  ) => {
    setAt(undefined);
    const left = new Set(failed.map(({ id }) => id));
    selection.only([...left]);
    const changed = coupons.filter(({ id }) => !left.has(id));
    if (changed.length > 0) {
      notify({ text: done(counted(changed.length, text.what)), undo: () => updateEach(changed.map(back)) });
    }
    if (left.size === 0) return;
    const codeOf = (id: number) => coupons.find((coupon) => coupon.id === id)?.couponCode;
    const named = refused.slice(0, namedMost).map(({ request, failure }) => `${codeOf(request.id)}: ${failure.title}.`);
    notify({ text: text.failed(counted(left.size, text.what), named), isProblem: true });
  };
  const setInvalidated = async (isInvalidated: boolean) => {
    const others = rows.filter((coupon) => coupon.isInvalidated !== isInvalidated);
    const sent = await updateEach(
      others.map(({ id }) => ({ id, updates: { isInvalidated } })),
      setAt,
    );
    const done = isInvalidated ? text.invalidated : text.restored;
    finish(others, sent, done, ({ id }) => ({ id, updates: { isInvalidated: !isInvalidated } }));
  };
  const concerns = active.length > 1 ? [text.invalidates(counted(active.length, text.what))] : [];
  const { ask, question } = useQuestion(concerns, false, words.coupon.invalidate, () => void setInvalidated(true));
  const extend = async (validTill: string) => {
    const requests = rows.map(({ id, etag }) => ({ id, etag, updates: { coupon: { validTill } } }));
    const sent = await updateEach(requests, setAt);
    setEnd(undefined);
    const etags = new Map(sent.answers.map(({ coupon }) => [coupon?.id, coupon?.etag ?? '']));
    finish(rows, sent, text.extended, ({ id, validTill: was }) => ({
      id,
      etag: etags.get(id) ?? '',
      updates: { coupon: { validTill: was === undefined ? '' : timestampDate(was).toISOString() } },
    }));
  };
  const progress = at === undefined ? undefined : text.progress(at, rows.length);
  return (
    <>
      {active.length > 0 && (
        <Button isPending={at !== undefined} onPress={ask}>
          {progress ?? words.coupon.invalidate}
        </Button>
      )}
      {active.length < rows.length && (
        <Button isPending={at !== undefined} onPress={() => void setInvalidated(false)}>
          {words.coupon.restore}
        </Button>
      )}
      {question}
      <Button onPress={() => setEnd('')}>{text.extend}</Button>
      <CsvButton name={text.what} columns={columns} eachPage={() => onePage(rows)} narrow={(read) => read} />
      {end !== undefined && (
        <Dialog title={text.extendTitle(counted(rows.length, text.what))} isOpen onClose={() => setEnd(undefined)}>
          <EditForm
            action={text.extendNow}
            {...(progress !== undefined && { pending: progress })}
            write={{ isPending: progress !== undefined, failure: undefined }}
            concerns={concernsOf(rows, end, now)}
            onSend={() => void extend(fromTimeInput(end))}
            onCancel={() => setEnd(undefined)}
          >
            <TimeField label={text.newEnd} isRequired usual="23:59" value={end} onChange={setEnd} />
          </EditForm>
        </Dialog>
      )}
    </>
  );
}

/** Returns what looks like a mistake in a new end of coupons. */
function concernsOf(coupons: readonly ListedCoupon[], end: string, now: number): string[] {
  const at = readTimeInput(end)?.getTime() ?? Number.POSITIVE_INFINITY;
  const sooner = coupons.filter((coupon) => endOf(coupon) > at).length;
  return [
    ...(at < now ? [text.endsAtOnce] : []),
    ...(sooner > 0 ? [text.sooner(counted(sooner, text.what))] : []),
    ...describeSkipped(words.coupon.concerns.end, end),
  ];
}

async function* onePage<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows;
}
