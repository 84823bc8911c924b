import { type ReactNode, useState } from 'react';
import { type CouponBatch, CouponBatchService } from '../../../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { codesInWords, nameOfBatch } from '../record/words.ts';

/** Invalidates the coupons of a batch that are still valid, after a question, because it can't be undone at once. */
export function EndButton({ batch }: { readonly batch: CouponBatch }): ReactNode {
  const [isAsking, setIsAsking] = useState(false);
  const name = nameOfBatch(batch);
  const end = useWrite(
    CouponBatchService.method.invalidateBatch,
    ({ invalidated }) => ({ text: `${name} ended: ${codesInWords(invalidated)} invalidated` }),
    name,
  );
  const left = batch.count - batch.invalidated;
  if (left === 0) return null;
  return (
    <>
      <Button emphasis="danger" isPending={end.isPending} onPress={() => setIsAsking(true)}>
        {end.isPending ? 'Ending…' : 'End the batch'}
      </Button>
      <Dialog title="End this batch?" isOpen={isAsking} onClose={() => setIsAsking(false)} role="alertdialog">
        <p>{codesInWords(left)} will be invalidated. Each of them can be made valid again only by itself.</p>
        <div className="actions">
          <Button autoFocus onPress={() => setIsAsking(false)}>
            Keep it
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
            End it
          </Button>
        </div>
      </Dialog>
    </>
  );
}
