import { useEffect } from 'react';
import { useBlocker } from 'react-router';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';

interface UnsavedProps {
  /** Whether there are unsaved changes. */
  readonly when: boolean;
  /** Whether the changes are being sent. That continues on another page, but not after the tab is closed. */
  readonly isSending: boolean;
}

/** Asks staff for confirmation before they leave a form with unsaved changes. */
export function Unsaved({ when, isSending }: UnsavedProps) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => when && !isSending && currentLocation.pathname !== nextLocation.pathname,
  );
  // If the tab is closed or reloaded, the browser asks in its own words.
  useEffect(() => {
    if (!when && !isSending) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [when, isSending]);
  if (blocker.state !== 'blocked') return null;
  return <LeaveQuestion onStay={() => blocker.reset()} onLeave={() => blocker.proceed()} />;
}

interface LeaveQuestionProps {
  onStay(): void;
  onLeave(): void;
}

/** Asks whether unsaved changes may be lost. */
export function LeaveQuestion({ onStay, onLeave }: LeaveQuestionProps) {
  return (
    <Dialog title={words.forms.leave} isOpen onClose={onStay} role="alertdialog">
      <p>{words.forms.notSaved}</p>
      <div className="actions">
        <Button onPress={onStay}>{words.forms.stay}</Button>
        <Button emphasis="danger" onPress={onLeave}>
          {words.forms.leaveNow}
        </Button>
      </div>
    </Dialog>
  );
}
