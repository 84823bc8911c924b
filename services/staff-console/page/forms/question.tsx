import { type RefObject, useEffect, useState } from 'react';
import { useBlocker } from 'react-router';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';

/** Asks staff about concerns before `go`, once for the same ones, and as soon as they are known. */
export function useQuestion(concerns: readonly string[], isChecking: boolean, action: string, go: () => void) {
  const [isAsking, setIsAsking] = useState(false);
  const [isWaiting, setIsWaiting] = useState(false);
  const [confirmed, setConfirmed] = useState('');
  const asked = concerns.join('\n');
  const ask = () => {
    setIsWaiting(isChecking);
    if (isChecking) return;
    if (asked === '' || asked === confirmed) go();
    else setIsAsking(true);
  };
  useEffect(() => {
    if (isWaiting && !isChecking) ask();
  });
  const close = () => setIsAsking(false);
  const confirm = () => {
    setConfirmed(asked);
    close();
    go();
  };
  const question = (
    <Dialog title={words.forms.isThisRight} isOpen={isAsking} onClose={close} role="alertdialog">
      {concerns.map((concern) => (
        <p key={concern}>{concern}</p>
      ))}
      <div className="actions">
        <Button onPress={confirm}>{words.forms.anyway(action)}</Button>
        <Button emphasis="primary" autoFocus onPress={close}>
          {words.forms.change}
        </Button>
      </div>
    </Dialog>
  );
  return { ask, isWaiting, question };
}

interface UnsavedProps {
  readonly isDirty: boolean;
  readonly isSending: boolean;
  readonly isCancelled: RefObject<boolean>;
}

/** Asks before staff leave a form with unsaved changes. Sending continues on another page, but not in a closed tab. */
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
