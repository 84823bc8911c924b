import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import type { Failure } from '../rpc/failure.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/page.tsx';
import { Unsaved } from './unsaved.tsx';

interface EditFormProps {
  /** The accessible name of the form, if it is not the only one of its section. */
  readonly label?: string;
  /** The text of the button; "Save" by default. */
  readonly action?: string;
  readonly write: { readonly isPending: boolean; readonly failure: Failure | undefined };
  /** The problems at fields, by the fields' names; those of the failure by default. */
  readonly problems?: Readonly<Record<string, string>>;
  /** Whether the form has unsaved changes. */
  readonly isDirty: boolean;
  /** What is allowed but looks like a mistake, a sentence each. Staff are asked about it once. */
  readonly concerns?: readonly string[];
  onSend(): void;
  onCancel(): void;
  readonly children: ReactNode;
}

const noProblems = {};

/** A form: its fields, its failure, and at its end, always in sight, the buttons that send and cancel it. */
export function EditForm(props: EditFormProps): ReactNode {
  const { label, action = 'Save', write, isDirty, concerns = [], onSend, onCancel, children } = props;
  const { failure, isPending } = write;
  const { ask, question } = useQuestion(concerns, action, onSend);
  return (
    <Form
      {...(label !== undefined && { 'aria-label': label })}
      validationErrors={props.problems ?? failure?.fields ?? noProblems}
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      {children}
      <div className="form-end">
        {failure !== undefined && <Problem failure={failure} />}
        <div className="actions">
          <Button type="submit" emphasis="primary" isPending={isPending}>
            {isPending ? 'Saving…' : action}
          </Button>
          <Button onPress={onCancel} isDisabled={isPending}>
            Cancel
          </Button>
        </div>
      </div>
      <Unsaved when={isDirty} isSending={isPending} />
      {question}
    </Form>
  );
}

/** Asks staff about concerns before `go`, once for the same ones. */
function useQuestion(concerns: readonly string[], action: string, go: () => void) {
  const [isAsking, setIsAsking] = useState(false);
  const [confirmed, setConfirmed] = useState('');
  const asked = concerns.join('\n');
  const ask = () => (asked === '' || asked === confirmed ? go() : setIsAsking(true));
  const confirm = () => {
    setConfirmed(asked);
    setIsAsking(false);
    go();
  };
  const question = (
    <Dialog title="Is this right?" isOpen={isAsking} onClose={() => setIsAsking(false)} role="alertdialog">
      {concerns.map((concern) => (
        <p key={concern}>{concern}</p>
      ))}
      <div className="actions">
        <Button onPress={confirm}>{action} all the same</Button>
        <Button emphasis="primary" autoFocus onPress={() => setIsAsking(false)}>
          Correct it
        </Button>
      </div>
    </Dialog>
  );
  return { ask, question };
}
