import { onlineManager } from '@tanstack/react-query';
import { Suspense, useSyncExternalStore } from 'react';
import { RouterProvider } from 'react-aria-components';
import { Outlet, useHref, useNavigate } from 'react-router';
import { FollowStore } from '../live/follow-store.tsx';
import { lateCalls } from '../rpc/transport.ts';
import { usePreference } from '../session/preference.ts';
import { useSession } from '../session/session.ts';
import { useSignal } from '../session/signal.ts';
import { Button } from '../ui/button.tsx';
import { Loading } from '../ui/page.tsx';
import { late, useLater } from '../ui/pauses.tsx';
import { words } from '../words.ts';
import { PhoneBar, Rail } from './rail.tsx';

const OverPage = late(async () => (await import('./over-page.tsx')).OverPage);
const EndsSoon = late(async () => (await import('./sign-in.tsx')).EndsSoon);

/** The frame around every page: the navigation, the person who is signed in, and the state of the connection. */
export function Shell() {
  const navigate = useNavigate();
  const isLater = useLater();
  const [folded] = usePreference('rail');
  const { token, ended, isDenied } = useSession();
  const isOnline = useSyncExternalStore(onlineManager.subscribe, () => onlineManager.isOnline());
  return (
    <RouterProvider navigate={(path) => void navigate(path)} useHref={useHref}>
      <a className="skip" href="#content">
        {words.frame.skip}
      </a>
      <div className={`frame ${folded}`}>
        <Rail />
        <div>
          <PhoneBar />
          {isDenied && (
            <p className="banner" role="status">
              {words.signIn.notStaff}
            </p>
          )}
          {isLater && token !== undefined && token.renewal === undefined && ended === undefined && (
            <EndsSoon key={token.text} token={token} />
          )}
          {!isOnline && (
            <p className="banner in-sight" role="status">
              {words.frame.offline}
            </p>
          )}
          <main id="content" tabIndex={-1}>
            <Suspense fallback={<Loading what={words.frame.thePage} />}>
              <Outlet />
            </Suspense>
          </main>
        </div>
      </div>
      <FollowStore />
      <WaitingNotice />
      {isLater && <OverPage />}
    </RouterProvider>
  );
}

/** Says that a service takes long to answer, and lets staff give up. It is in sight wherever the page is scrolled to. */
function WaitingNotice() {
  const calls = useSignal(lateCalls);
  if (calls.length === 0) return null;
  return (
    <div className="waiting notice" role="status">
      {words.frame.waiting}
      <Button onPress={() => calls.map((call) => call.abort())}>{words.frame.stopWaiting}</Button>
    </div>
  );
}
