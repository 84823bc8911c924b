import type { ReactNode } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { words } from '../words.ts';

/** The menu of a phone, over the page. */
export function PhoneMenu({ onClose, children }: { onClose(): void; readonly children: ReactNode }) {
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={onClose} isDismissable>
      <Modal className="sheet-modal">
        <Dialog aria-label={words.frame.menu} className="rail">
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
