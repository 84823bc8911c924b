import { type ReactNode, useState } from 'react';
import { timeLeft, useNow } from '../business/time.tsx';
import { useSession } from '../session/session.ts';
import type { Token } from '../session/token.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';
import { SignInWay } from './sign-in-way.tsx';

const text = words.signIn;
const noticeMs = 5 * 60_000;
const lookMs = 10_000;

/** Warns at the top of every page if the session ends soon or the account is not staff. */
export function SessionBanner(): ReactNode {
  const { token, ended, isDenied } = useSession();
  if (token === undefined) return null;
  return (
    <>
      {isDenied && (
        <p className="banner" role="status">
          {text.notStaff}
        </p>
      )}
      {token.renewal === undefined && ended === undefined && <EndsSoon key={token.text} token={token} />}
    </>
  );
}

function EndsSoon({ token: { expiresAt } }: { readonly token: Token }): ReactNode {
  const now = useNow(lookMs);
  const [isAsking, setIsAsking] = useState(false);
  if (expiresAt - now > noticeMs) return null;
  return (
    <div className="banner calm" role="status">
      {text.endsIn(timeLeft(expiresAt, now))}{' '}
      <Button emphasis="quiet" onPress={() => setIsAsking(true)}>
        {text.again}
      </Button>
      <Dialog title={text.again} isOpen={isAsking} onClose={() => setIsAsking(false)}>
        <p>{text.staysHere}</p>
        <SignInWay isOver />
        <Button emphasis="quiet" onPress={() => setIsAsking(false)}>
          {text.later}
        </Button>
      </Dialog>
    </div>
  );
}
