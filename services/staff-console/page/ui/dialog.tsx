import type { ReactNode } from 'react';
import { Dialog as AriaDialog, DialogTrigger, Heading } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  /** Called when staff close it; undefined: it can't be closed without an answer. */
  readonly onClose?: (() => void) | undefined;
  readonly role?: 'dialog' | 'alertdialog';
  readonly children: ReactNode;
}

/** A dialog over the page, which keeps the focus until it is closed. */
export function Dialog({ title, isOpen, onClose, role = 'dialog', children }: DialogProps): ReactNode {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      isDismissable={onClose !== undefined && role === 'dialog'}
      isKeyboardDismissDisabled={onClose === undefined}
      onOpenChange={(open) => {
        if (!open) onClose?.();
      }}
    >
      <Modal className="modal">
        <AriaDialog role={role} className="dialog">
          <Heading slot="title">{title}</Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ConfirmButtonProps {
  /** The button, and what confirms. */
  readonly action: string;
  readonly title: string;
  /** What follows from it. */
  readonly children: ReactNode;
  readonly isPending: boolean;
  onConfirm(): void;
}

/** A button that asks before it acts. */
export function ConfirmButton({ action, title, children, isPending, onConfirm }: ConfirmButtonProps): ReactNode {
  return (
    <DialogTrigger>
      <Button emphasis="danger" isPending={isPending}>
        {action}
      </Button>
      <ModalOverlay className="overlay">
        <Modal className="modal">
          <AriaDialog role="alertdialog" className="dialog">
            {({ close }) => (
              <>
                <Heading slot="title">{title}</Heading>
                {children}
                <div className="actions">
                  <Button onPress={close} autoFocus>
                    Cancel
                  </Button>
                  <Button
                    emphasis="danger"
                    onPress={() => {
                      close();
                      onConfirm();
                    }}
                  >
                    {action}
                  </Button>
                </div>
              </>
            )}
          </AriaDialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
