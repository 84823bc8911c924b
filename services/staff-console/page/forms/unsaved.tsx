import { type ReactNode, useEffect } from 'react';
import { useBlocker } from 'react-router';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';

interface UnsavedProps {
  /** Whether there is what nobody has saved. */
  readonly when: boolean;
  /** Whether it is being sent: that goes on on another page, but not after the tab is closed. */
  readonly isSending: boolean;
}

/** Asks before a form is left that has changes which nobody has saved. */
export function Unsaved({ when, isSending }: UnsavedProps): ReactNode {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => when && !isSending && currentLocation.pathname !== nextLocation.pathname,
  );
  // The browser asks in its own words when the tab is closed or loaded again.
  useEffect(() => {
    if (!when && !isSending) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [when, isSending]);
  if (blocker.state !== 'blocked') return null;
  return (
    <Dialog title="Leave without saving?" isOpen onClose={() => blocker.reset()} role="alertdialog">
      <p>What you have entered here has not been saved.</p>
      <div className="actions">
        <Button onPress={() => blocker.reset()}>Stay here</Button>
        <Button emphasis="danger" onPress={() => blocker.proceed()}>
          Leave
        </Button>
      </div>
    </Dialog>
  );
}
