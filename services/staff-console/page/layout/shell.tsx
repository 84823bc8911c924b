import { Suspense } from 'react';
import { RouterProvider } from 'react-aria-components';
import { Outlet, useHref, useNavigate } from 'react-router';
import { FollowStore } from '../live/follow-store.tsx';
import { usePreference } from '../session/preference.ts';
import { SessionBanner } from '../sign-in/session-banner.tsx';
import { Loading } from '../ui/page.tsx';
import { late, useLater } from '../ui/pauses.ts';
import { words } from '../words.ts';
import { ConnectionBanner } from './connection-banner.tsx';
import { PhoneBar, Rail } from './rail.tsx';
import { WaitingBanner } from './waiting-banner.tsx';

const OverPage = late(async () => (await import('./over-page.tsx')).OverPage);

/** The frame around every page: the navigation, the person who is signed in, and the state of the connection. */
export function Shell() {
  const navigate = useNavigate();
  const isLater = useLater();
  const [folded] = usePreference('rail');
  return (
    <RouterProvider navigate={(path) => void navigate(path)} useHref={useHref}>
      <a className="skip" href="#content">
        {words.frame.skip}
      </a>
      <div className={`frame ${folded}`}>
        <Rail />
        <div>
          <PhoneBar />
          <SessionBanner />
          <ConnectionBanner />
          <main id="content" tabIndex={-1}>
            <Suspense fallback={<Loading what="the page" />}>
              <Outlet />
            </Suspense>
          </main>
        </div>
      </div>
      <FollowStore />
      <WaitingBanner />
      {isLater && (
        <Suspense>
          <OverPage />
        </Suspense>
      )}
    </RouterProvider>
  );
}
