import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { setBusiness } from './business/business.ts';
import { pageConfig } from './session/config.ts';
import { followTheme } from './session/preference.ts';
import { useSession } from './session/session.ts';
import { startSession } from './session/sign-in.ts';
import { Loading } from './ui/page.tsx';
import { late } from './ui/pauses.tsx';
import { words } from './words.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/lists.css';
import './styles/overlays.css';

// It is fetched at once, but run by itself: all of the page at once would keep a phone busy for too long.
const signedIn = import('./routes.tsx');
const SignedIn = lazy(async () => ({ default: (await signedIn).SignedIn }));
const SignInPage = late(async () => (await import('./layout/sign-in.tsx')).SignInPage);

/** The staff console (design 11). */
function App() {
  const { token, isStarting } = useSession();
  return (
    <Suspense fallback={<Loading what={words.frame.thePage} />}>
      {token === undefined || isStarting ? (
        <SignInPage />
      ) : (
        // The key resets the page, so that the next person does not see what this one has read or entered.
        <SignedIn key={token.subject} />
      )}
    </Suspense>
  );
}

const root = document.getElementById('page');
if (root === null) throw new Error('the page has no place for the console');
setBusiness(pageConfig);
startSession(async (address) => (await signedIn).goTo(address));
followTheme();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
