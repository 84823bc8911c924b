import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { session, useSession } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Asks staff to sign in again over the page that they are on, so that nothing that they have entered is lost. */
export function SignInAgain(): ReactNode {
  const { token, hasEnded } = useSession();
  const queryClient = useQueryClient();
  // What was refused meanwhile is read again.
  useEffect(() => {
    if (token !== undefined && !hasEnded) void queryClient.invalidateQueries();
  }, [token, hasEnded, queryClient]);
  return (
    <Dialog title="Your session has ended" isOpen={hasEnded} role="alertdialog">
      <p>Sign in again to go on where you are. Nothing that you have entered is lost.</p>
      <SignInForm />
      <Button emphasis="quiet" onPress={() => session.signOut()}>
        Sign out
      </Button>
    </Dialog>
  );
}
