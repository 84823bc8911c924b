import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { useSession } from '../session/session.ts';
import { hasProvider, signOut } from '../session/sign-in.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SignInWay } from './sign-in-way.tsx';

const words = {
  expired: ['Your session has ended', 'Sign in again to go on where you are. Nothing that you have entered is lost.'],
  refused: [
    'Your sign-in is no longer accepted',
    'Sign in again to go on where you are. Nothing that you have entered is lost.',
  ],
  unaccepted: hasProvider
    ? [
        'You are signed in, but the services don’t accept it',
        'Signing in again does not help. Tell an administrator: the log of the services says why.',
      ]
    : ['The services don’t accept this token', 'Ask an administrator for another one.'],
} as const;

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
  const [title, advice] = words[ended ?? 'expired'];
  return (
    <Dialog title={title} isOpen={ended !== undefined && !isRenewing} role="alertdialog">
      <p>{advice}</p>
      {(ended !== 'unaccepted' || !hasProvider) && <SignInWay isOver />}
      <Button emphasis="quiet" onPress={() => void signOut()}>
        Sign out
      </Button>
    </Dialog>
  );
}
