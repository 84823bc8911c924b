import { type ReactNode, useState } from 'react';
import { timeLeft, useNow } from '../business/time.tsx';
import { useSession } from '../session/session.ts';
import type { Token } from '../session/token.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SignInWay } from './sign-in-way.tsx';

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
          This account is not staff, so most of the console is closed to it. Ask an administrator to add you as a staff
          user, or sign out and sign in with another account.
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
      Your session ends in {timeLeft(expiresAt, now) ?? 'a moment'}.{' '}
      <Button emphasis="quiet" onPress={() => setIsAsking(true)}>
        Sign in again
      </Button>
      <Dialog title="Sign in again" isOpen={isAsking} onClose={() => setIsAsking(false)}>
        <p>You stay on this page, and nothing that you have entered is lost.</p>
        <SignInWay isOver />
        <Button emphasis="quiet" onPress={() => setIsAsking(false)}>
          Later
        </Button>
      </Dialog>
    </div>
  );
}
