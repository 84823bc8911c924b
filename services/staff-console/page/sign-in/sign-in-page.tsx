import { useEffect } from 'react';
import { useSession } from '../session/session.ts';
import { Loading } from '../ui/page.tsx';
import { words } from '../words.ts';
import { SignInWay } from './sign-in-way.tsx';

/** The page that people see at every URL until they sign in. Then they see the page that they came for. */
export function SignInPage() {
  const { isStarting } = useSession();
  useEffect(() => {
    document.title = `${words.signIn.signIn} · ${words.frame.product}`;
  }, []);
  return (
    <main className="sign-in card">
      <h1>{words.frame.product}</h1>
      {isStarting ? <Loading what="the console" /> : <SignInWay />}
    </main>
  );
}
