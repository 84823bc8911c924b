import { useState } from 'react';
import { type CouponBatch, CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { counted, words } from '../../words.ts';
import { nameOfBatch } from '../record/words.ts';

const text = words.coupons.batches;

/** Invalidates the coupons of a batch that are still valid, after a question, because it can't be undone at once. */
export function EndButton({ batch }: { readonly batch: CouponBatch }) {
  const [isAsking, setIsAsking] = useState(false);
  const name = nameOfBatch(batch);
  const end = useWrite(
    CouponBatchService.method.invalidateBatch,
    ({ invalidated }) => ({ text: text.ended(name, counted(invalidated, text.codes)) }),
    name,
  );
  const left = batch.count - batch.invalidated;
  if (left === 0) return null;
  return (
    <>
      <Button emphasis="danger" isPending={end.isPending} onPress={() => setIsAsking(true)}>
        {end.isPending ? text.ending : text.end}
      </Button>
      <Dialog title={text.endQuestion} isOpen={isAsking} onClose={() => setIsAsking(false)} role="alertdialog">
        <p>{text.endExplained(counted(left, text.codes))}</p>
        <div className="actions">
          <Button autoFocus onPress={() => setIsAsking(false)}>
            {text.keep}
          </Button>
          <Button
            emphasis="danger"
            onPress={() => {
              setIsAsking(false);
              void end.send({ id: batch.id }).then(({ failure }) => {
                // The keyboard continues at the heading, because the button that was pressed is gone.
                if (failure === undefined) document.querySelector('h1')?.focus();
              });
            }}
          >
            {text.end}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
