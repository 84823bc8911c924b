import { useState } from 'react';
import { timeLeft, useNow } from '../business/time.tsx';
import type { Token } from '../session/token.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words.ts';
import { SignInWay } from './sign-in-way.tsx';

const text = words.signIn;
const noticeMs = 5 * 60_000;
const lookMs = 10_000;

/** Warns that the session ends soon, and lets staff sign in before it does. */
export function EndsSoon({ token: { expiresAt } }: { readonly token: Token }) {
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
