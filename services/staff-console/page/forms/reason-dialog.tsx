import { type ComponentProps, useState } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';
import { EditForm } from './edit-form.tsx';
import { TextField } from './text-field.tsx';

interface ReasonDialogProps extends Omit<ComponentProps<typeof EditForm>, 'onSend'> {
  readonly title: string;
  onSend(reason: string): void;
  onClose(): void;
}

/** Asks whether to take a step that can't be undone, and for its reason. */
export function ReasonDialog({ title, onSend, onClose, children, ...form }: ReasonDialogProps) {
  const [reason, setReason] = useState('');
  const field = { label: words.fields.reason, hint: words.orders.reasonHint, name: 'reason', maxLength: 200 };
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <EditForm {...form} onSend={() => onSend(reason.trim())} onCancel={onClose}>
        {children}
        <TextField {...field} value={reason} onChange={setReason} autoFocus />
      </EditForm>
    </Dialog>
  );
}
