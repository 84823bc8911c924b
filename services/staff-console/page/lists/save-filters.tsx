import { useState } from 'react';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';

const text = words.lists;
const write = { isPending: false, failure: undefined };

/** Asks for the name under which the filters of a list are saved. */
export function SaveFilters({ onSave, onClose }: { onSave(name: string): void; onClose(): void }) {
  const [name, setName] = useState('');
  const save = () => {
    onSave(name.trim());
    onClose();
  };
  return (
    <Dialog title={text.saveFilters} isOpen onClose={onClose}>
      <EditForm write={write} onSend={save} onCancel={onClose}>
        <TextField label={words.fields.name} isRequired autoFocus maxLength={40} value={name} onChange={setName} />
      </EditForm>
    </Dialog>
  );
}
