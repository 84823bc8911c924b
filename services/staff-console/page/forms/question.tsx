import { useEffect, useState } from 'react';
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
