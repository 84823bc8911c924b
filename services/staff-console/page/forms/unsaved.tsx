import { type RefObject, useEffect } from 'react';
import { useBlocker } from 'react-router';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';

interface UnsavedProps {
  readonly isDirty: boolean;
  /** Whether the changes are being sent. That continues on another page, but not after the tab is closed. */
  readonly isSending: boolean;
  readonly isCancelled: RefObject<boolean>;
}

/** Asks staff for confirmation before they leave a form with unsaved changes. */
export function Unsaved({ isDirty, isSending, isCancelled }: UnsavedProps) {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      isDirty && !isSending && !isCancelled.current && currentLocation.pathname !== nextLocation.pathname,
  );
  // If the tab is closed or reloaded, the browser asks in its own words.
  useEffect(() => {
    if (!isDirty && !isSending) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isDirty, isSending]);
  if (blocker.state !== 'blocked') return null;
  return <LeaveQuestion onStay={() => blocker.reset()} onLeave={() => blocker.proceed()} />;
}

/** Asks whether unsaved changes may be lost. */
export function LeaveQuestion({ onStay, onLeave }: { onStay(): void; onLeave(): void }) {
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
