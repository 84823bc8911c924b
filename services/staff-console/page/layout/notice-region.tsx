import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useEffect } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Text } from 'react-aria-components/Text';
import {
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { type Notice, notices, notify } from '../rpc/notices.ts';
import { Button } from '../ui/button.tsx';
import { words } from '../words.ts';

const text = words.frame;

/** Shows the notices. */
export function NoticeRegion() {
  return (
    <ToastRegion queue={notices} className="notices" aria-label={text.notices}>
      {({ toast }) => (
        <Toast toast={toast} className={`notice ${toast.content.isProblem ? 'failed' : ''}`}>
          <KeepInSight />
          <ToastContent>
            <Text slot="title">{toast.content.text}</Text>
            {toast.content.storeRequestId !== undefined && <Published storeRequestId={toast.content.storeRequestId} />}
          </ToastContent>
          {toast.content.undo !== undefined && (
            <Button
              emphasis="quiet"
              onPress={() => {
                notices.close(toast.key);
                void undo(toast.content);
              }}
            >
              {text.undo}
            </Button>
          )}
          {toast.content.retry !== undefined && (
            <Button
              emphasis="quiet"
              onPress={() => {
                notices.close(toast.key);
                toast.content.retry?.();
              }}
            >
              {words.tryAgain}
            </Button>
          )}
          <AriaButton slot="close" className="button quiet" aria-label={words.close}>
            <X />
          </AriaButton>
        </Toast>
      )}
    </ToastRegion>
  );
}

/** Scrolls what has the focus, such as the button that was pressed, out from under a new notice. */
function KeepInSight() {
  useEffect(() => {
    document.activeElement?.scrollIntoView({ block: 'nearest' });
  }, []);
  return null;
}

/** Says when the derived stores have a slot write: a read with its `store-request-id` waits until then (design 4). */
function Published({ storeRequestId }: { readonly storeRequestId: string }) {
  const transport = useTransport();
  const headers = { 'store-request-id': storeRequestId };
  const { data, isError } = useQuery({
    ...createQueryOptions(SlotStoreService.method.getStoreStatus, {}, { transport, headers }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (isError) return <Text slot="description">{text.shownSoon}</Text>;
  if (data === undefined) return <Text slot="description">{text.onItsWay}</Text>;
  return <Text slot="description">{text.shownNow}</Text>;
}

/** Undoes a change. A notice reports a failure, because the button that would show it may have left the page. */
async function undo({ text: done, undo }: Notice): Promise<void> {
  const undone = await undo?.();
  if (undone?.failure !== undefined) notify({ text: text.notUndone(done, undone.failure.title), isProblem: true });
}
