import { lazy, type ReactNode, Suspense } from 'react';
import { setBusiness } from './business/business.ts';
import { readPageConfig } from './session/config.ts';
import { useSession } from './session/session.ts';
import { startSession } from './session/sign-in.ts';
import { SignInPage } from './sign-in/sign-in-page.tsx';
import { Loading } from './ui/page.tsx';

// It is fetched at once, but run by itself: all of the page at once would keep a phone busy for too long.
const signedIn = import('./signed-in.tsx');
const SignedIn = lazy(async () => ({ default: (await signedIn).SignedIn }));

setBusiness(readPageConfig());
startSession(async (address) => (await signedIn).goTo(address));

/** The staff console (design 11). */
export function App(): ReactNode {
  const { token, isStarting } = useSession();
  if (token === undefined || isStarting) return <SignInPage />;
  // The key resets the page, so that the next person does not see what this one has read or entered.
  return (
    <Suspense fallback={<Loading what="the page" />}>
      <SignedIn key={token.subject} />
    </Suspense>
  );
}
