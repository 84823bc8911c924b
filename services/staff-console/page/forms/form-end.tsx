import type { ReactNode } from 'react';
import type { Failure } from '../rpc/failure.ts';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/page.tsx';
import { Unsaved } from './unsaved.tsx';

interface FormEndProps {
  /** The text of the button; "Save" by default. */
  readonly action?: string;
  readonly write: { readonly isPending: boolean; readonly failure: Failure | undefined };
  /** Whether the form has unsaved changes. */
  readonly isDirty: boolean;
  onCancel(): void;
}

/** The end of a form: its failure, the button that sends it, and the one that cancels it. */
export function FormEnd({ action = 'Save', write, isDirty, onCancel }: FormEndProps): ReactNode {
  const { failure, isPending } = write;
  return (
    <>
      {failure !== undefined && <Problem failure={failure} />}
      <div className="actions">
        <Button type="submit" emphasis="primary" isPending={isPending}>
          {isPending ? 'Saving…' : action}
        </Button>
        <Button onPress={onCancel} isDisabled={isPending}>
          Cancel
        </Button>
      </div>
      <Unsaved when={isDirty} isSending={isPending} />
    </>
  );
}
