import { type ReactNode, useEffect } from 'react';
import { useBlocker } from 'react-router';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** Asks before a form is left that has changes which nobody has saved. */
export function Unsaved({ when }: { readonly when: boolean }): ReactNode {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => when && currentLocation.pathname !== nextLocation.pathname,
  );
  // The browser asks in its own words when the tab is closed or loaded again.
  useEffect(() => {
    if (!when) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [when]);
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
