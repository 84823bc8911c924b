import { lazy, Suspense } from 'react';
import { setBusiness } from './business/business.ts';
import { readPageConfig } from './session/config.ts';
import { useSession } from './session/session.ts';
import { startSession } from './session/sign-in.ts';
import { Loading } from './ui/page.tsx';
import { late } from './ui/pauses.ts';

// It is fetched at once, but run by itself: all of the page at once would keep a phone busy for too long.
const signedIn = import('./signed-in.tsx');
const SignedIn = lazy(async () => ({ default: (await signedIn).SignedIn }));
const SignInPage = late(async () => (await import('./sign-in/sign-in-page.tsx')).SignInPage);

setBusiness(readPageConfig());
startSession(async (address) => (await signedIn).goTo(address));

/** The staff console (design 11). */
export function App() {
  const { token, isStarting } = useSession();
  return (
    <Suspense fallback={<Loading what="the page" />}>
      {token === undefined || isStarting ? (
        <SignInPage />
      ) : (
        // The key resets the page, so that the next person does not see what this one has read or entered.
        <SignedIn key={token.subject} />
      )}
    </Suspense>
  );
}
