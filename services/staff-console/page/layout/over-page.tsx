import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Text } from 'react-aria-components/Text';
import {
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';
import { SlotStoreService } from '#gen/slot/v1/slot_store_service_pb';
import { type Notice, notices, notify } from '../rpc/notices.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';
import { SignInAgain } from './sign-in.tsx';

const text = words.frame;

/** What comes up over the page: notices, and the sign-in when a session has ended. Fetched after the first list. */
export function OverPage() {
  return (
    <>
      <ToastRegion queue={notices} className="notices" aria-label={text.notices}>
        {({ toast }) => (
          <Toast ref={keepFocusInSight} toast={toast} className={`notice ${toast.content.isProblem ? 'failed' : ''}`}>
            <ToastContent>
              <Text slot="title">{toast.content.text}</Text>
              {toast.content.storeRequestId !== undefined && <Published id={toast.content.storeRequestId} />}
            </ToastContent>
            {(toast.content.undo ?? toast.content.retry) !== undefined && (
              <Button
                emphasis="quiet"
                onPress={() => {
                  notices.close(toast.key);
                  void actOn(toast.content);
                }}
              >
                {toast.content.undo === undefined ? words.tryAgain : text.undo}
              </Button>
            )}
            <Button slot="close" emphasis="quiet" aria-label={words.close}>
              <X />
            </Button>
          </Toast>
        )}
      </ToastRegion>
      <SignInAgain />
    </>
  );
}

/** Scrolls what has the focus, such as the button that was pressed, out from under a new notice. */
function keepFocusInSight(notice: HTMLElement | null): void {
  if (notice !== null) document.activeElement?.scrollIntoView({ block: 'nearest' });
}

/** Says when the derived stores have the slot write of an id: a read with this id waits until then (design 4). */
function Published({ id }: { readonly id: string }) {
  const transport = useTransport();
  const headers = { 'store-request-id': id };
  const { data, isError } = useQuery({
    ...createQueryOptions(SlotStoreService.method.getStoreStatus, {}, { transport, headers }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const state = data === undefined ? text.onItsWay : text.shownNow;
  return <Text slot="description">{isError ? text.shownSoon : state}</Text>;
}

/** Undoes what was done, or does again what failed. A notice reports that it was not undone: its button may be gone. */
async function actOn({ text: done, undo, retry }: Notice): Promise<void> {
  retry?.();
  const failure = (await undo?.())?.failure;
  if (failure !== undefined) notify({ text: text.notUndone(done, failure.title), isProblem: true });
}

/** The menu of a phone, over the page. */
export function PhoneMenu({ onClose, children }: { onClose(): void; readonly children: ReactNode }) {
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={onClose} isDismissable>
      <Modal className="sheet-modal">
        <AriaDialog aria-label={text.menu} className="rail">
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Lists the keys of the console. */
export function KeysHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title={text.keys} isOpen onClose={onClose}>
      <table className="list">
        <tbody>
          {words.keys.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="actions">
        <Button autoFocus onPress={onClose}>
          {words.close}
        </Button>
      </div>
    </Dialog>
  );
}
