import { type ReactNode, useEffect } from 'react';
import { useSession } from '../session/session.ts';
import { Loading } from '../ui/page.tsx';
import { SignInWay } from './sign-in-way.tsx';

/** What everybody sees who is not signed in, at any address. Once signed in, they see what they came for. */
export function SignInPage(): ReactNode {
  const { isStarting } = useSession();
  useEffect(() => {
    document.title = 'Sign in · Staff console';
  }, []);
  return (
    <main className="sign-in card">
      <h1>Staff console</h1>
      {isStarting ? <Loading what="the console" /> : <SignInWay />}
    </main>
  );
}
