import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import type { Failure } from '../rpc/failure.ts';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/page.tsx';
import { words } from '../words.ts';
import { LeaveQuestion, Unsaved, useQuestion } from './question.tsx';

interface EditFormProps {
  readonly label?: string;
  /** The text of the button, and that while the form is sent. */
  readonly action?: string;
  readonly pending?: string;
  /** Undefined for a form that is done at once. */
  readonly write?: { readonly isPending: boolean; readonly failure: Failure | undefined };
  /** The names of the fields that show problems, by the service's names. Without them, each has the service's name. */
  readonly places?: Readonly<Record<string, string>>;
  /** Whether the form has unsaved changes. Staff are asked before they leave it; never if this is undefined. */
  readonly isDirty?: boolean;
  /** What will be made, in sentences. It stands beside the fields, above what may be a mistake and the buttons. */
  readonly summary?: ReactNode;
  /** What is allowed but looks like a mistake, a sentence each. Staff are asked about it once. */
  readonly concerns?: readonly string[];
  /** Whether concerns are still being looked for. Sending waits for them. */
  readonly isChecking?: boolean;
  onSend(): void;
  /** The text of the button that leaves the form; "Cancel" by default. */
  readonly keep?: string;
  /** Undefined for a form that is all there is on its page. */
  onCancel?: () => void;
  readonly className?: string;
  readonly children: ReactNode;
}

const lockAfterMs = 500;

/** A form: its fields, its failure, and the buttons that send and cancel it, beside the fields if it has a summary. */
export function EditForm(props: EditFormProps) {
  const {
    label,
    action = words.save,
    pending = words.saving,
    keep = words.cancel,
    write,
    places,
    onSend,
    onCancel,
    children,
  } = props;
  const { className = '', isDirty, summary, concerns = [], isChecking = false } = props;
  const { atFields, failure } = useProblems(write?.failure, places);
  const { ask, isWaiting, question } = useQuestion(concerns, isChecking, action, onSend);
  const isPending = write?.isPending === true || isWaiting;
  const form = useLock(isPending);
  const [isAsking, setIsAsking] = useState(false);
  // They are not asked again when they then leave the page.
  const isCancelled = useRef(false);
  const cancel = () => {
    isCancelled.current = true;
    onCancel?.();
  };
  const end = (
    <div className="form-end">
      {failure !== undefined && <Problem failure={failure} />}
      <div className="actions">
        <Button type="submit" emphasis="primary" isPending={isPending}>
          {isPending ? pending : action}
        </Button>
        {onCancel !== undefined && (
          <Button onPress={() => (isDirty ? setIsAsking(true) : cancel())} isDisabled={isPending}>
            {keep}
          </Button>
        )}
      </div>
    </div>
  );
  return (
    <Form
      {...(label !== undefined && { 'aria-label': label })}
      ref={form}
      className={summary === undefined ? className : 'split'}
      validationErrors={atFields}
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      {summary === undefined ? children : <div>{children}</div>}
      {summary === undefined ? (
        end
      ) : (
        <aside className="card">
          <h2>{words.forms.summary}</h2>
          <p>{summary}</p>
          {concerns.length > 0 && isDirty !== false && (
            <ul className="concerns">
              {concerns.map((concern) => (
                <li key={concern}>{concern}</li>
              ))}
            </ul>
          )}
          {end}
        </aside>
      )}
      {isDirty !== undefined && <Unsaved isDirty={isDirty} isSending={isPending} isCancelled={isCancelled} />}
      {isAsking && <LeaveQuestion onStay={() => setIsAsking(false)} onLeave={cancel} />}
      {question}
    </Form>
  );
}

/** Locks a form's fields while sending takes long. At once, it would take the focus away each time. */
function useLock(isPending: boolean) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (!isPending) return undefined;
    const lock = (isLocked: boolean) => {
      const parts = form.current?.querySelectorAll<HTMLElement>(':scope > :not(.form-end, aside)') ?? [];
      for (const part of parts) part.inert = isLocked;
    };
    const timer = setTimeout(() => lock(true), lockAfterMs);
    return () => {
      clearTimeout(timer);
      lock(false);
    };
  }, [isPending]);
  return form;
}

/** Returns the problems at fields, by the fields' names, and the failure unless the fields show all of its problems. */
function useProblems(failure: Failure | undefined, places: EditFormProps['places']) {
  return useMemo(() => {
    const problems = Object.entries(failure?.fields ?? {});
    if (places === undefined) return { atFields: Object.fromEntries(problems), failure };
    const atFields: Record<string, string> = {};
    for (const [name, problem] of problems) atFields[places[name] ?? ''] ??= problem;
    return { atFields, failure: problems.length > 0 && !('' in atFields) ? undefined : failure };
  }, [failure, places]);
}
