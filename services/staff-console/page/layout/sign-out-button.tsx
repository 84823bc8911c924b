import { type ReactNode, useState } from 'react';
import { hasUnsaved, LeaveQuestion } from '../forms/unsaved.tsx';
import { signOut } from '../session/sign-in.ts';
import { Button } from '../ui/button.tsx';

/** Signs out, after a question if something has not been saved. */
export function SignOutButton(): ReactNode {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Button emphasis="quiet" onPress={() => (hasUnsaved() ? setIsAsking(true) : void signOut())}>
        Sign out
      </Button>
      {isAsking && <LeaveQuestion onStay={() => setIsAsking(false)} onLeave={() => void signOut()} />}
    </>
  );
}
