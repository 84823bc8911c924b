import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSession } from '../session/session.ts';
import { hasProvider, signOut } from '../session/sign-in.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';
import { SignInWay } from './sign-in-way.tsx';

const text = words.signIn;
const titles = {
  expired: [text.ended, text.endedAdvice],
  refused: [text.refused, text.endedAdvice],
  unaccepted: hasProvider ? [text.unaccepted, text.unacceptedAdvice] : [text.badToken, text.badTokenAdvice],
} as const;

/** Asks staff to sign in again over the current page, so that nothing that they have entered is lost. */
export function SignInAgain() {
  const { ended, isRenewing } = useSession();
  const hadEnded = useRef(false);
  const queryClient = useQueryClient();
  // Everything is read again, because some reads were refused meanwhile.
  useEffect(() => {
    if (hadEnded.current && ended === undefined) void queryClient.invalidateQueries();
    hadEnded.current = ended !== undefined;
  }, [ended, queryClient]);
  const [title, advice] = titles[ended ?? 'expired'];
  return (
    <Dialog title={title} isOpen={ended !== undefined && !isRenewing} role="alertdialog">
      <p>{advice}</p>
      {(ended !== 'unaccepted' || !hasProvider) && <SignInWay isOver />}
      <Button emphasis="quiet" onPress={() => void signOut()}>
        {words.frame.signOut}
      </Button>
    </Dialog>
  );
}
