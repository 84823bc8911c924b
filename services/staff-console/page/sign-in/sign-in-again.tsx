import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { useSession } from '../session/session.ts';
import { signOut } from '../session/sign-in.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SignInWay } from './sign-in-way.tsx';

const reasons = {
  expired: 'Your session has ended',
  refused: 'Your sign-in is no longer accepted',
};

/** Asks staff to sign in again over the current page, so that nothing that they have entered is lost. */
export function SignInAgain(): ReactNode {
  const { ended, isRenewing } = useSession();
  const hadEnded = useRef(false);
  const queryClient = useQueryClient();
  // Everything is read again, because some reads were refused meanwhile.
  useEffect(() => {
    if (hadEnded.current && ended === undefined) void queryClient.invalidateQueries();
    hadEnded.current = ended !== undefined;
  }, [ended, queryClient]);
  return (
    <Dialog title={reasons[ended ?? 'expired']} isOpen={ended !== undefined && !isRenewing} role="alertdialog">
      <p>Sign in again to go on where you are. Nothing that you have entered is lost.</p>
      <SignInWay isOver />
      <Button emphasis="quiet" onPress={() => void signOut()}>
        Sign out
      </Button>
    </Dialog>
  );
}
