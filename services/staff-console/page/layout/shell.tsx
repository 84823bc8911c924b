import { type ReactNode, Suspense } from 'react';
import { RouterProvider } from 'react-aria-components';
import { Link, NavLink, Outlet, useHref, useNavigate } from 'react-router';
import { FollowStore } from '../live/follow-store.tsx';
import { useStaff } from '../lookup/names.ts';
import { SearchButton } from '../search/search-button.tsx';
import { useSession } from '../session/session.ts';
import { SessionBanner } from '../sign-in/session-banner.tsx';
import { SignInAgain } from '../sign-in/sign-in-again.tsx';
import { Loading } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { BusinessTime } from './business-time.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import icon from './icon.svg';
import { NoticeRegion } from './notice-region.tsx';
import { SignOutButton } from './sign-out-button.tsx';
import { WaitingBanner } from './waiting-banner.tsx';

const places = [
  ['/slots', 'Slots'],
  ['/coupons', 'Coupons'],
  ['/check', 'Check a coupon'],
  ['/users', 'Users'],
  ['/live', 'Live'],
  ['/audit', 'Audit trail'],
] as const;

/** The frame around every page: the navigation, the person who is signed in, and the state of the connection. */
export function Shell(): ReactNode {
  const navigate = useNavigate();
  const { token } = useSession();
  const staff = useStaff();
  // A token without a name has its subject there.
  const name = token?.name === token?.subject ? staff.get(token?.staffId ?? 0) : undefined;
  return (
    <RouterProvider navigate={(path) => void navigate(path)} useHref={useHref}>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="top">
        <Link className="brand" to="/slots">
          <img src={icon} alt="" width="24" height="24" /> <span>Delivery administration</span>
        </Link>
        <nav aria-label="Main" className="places">
          {places.map(([path, name]) => (
            <NavLink key={path} to={path}>
              {name}
            </NavLink>
          ))}
        </nav>
        <div className="account">
          <SearchButton />
          <BusinessTime />
          <span>{token?.isAccepted ? (name ?? isolate(token.name)) : ''}</span>
          <SignOutButton />
        </div>
      </header>
      <SessionBanner />
      <ConnectionBanner />
      <main id="content" tabIndex={-1}>
        <Suspense fallback={<Loading what="the page" />}>
          <Outlet />
        </Suspense>
      </main>
      <FollowStore />
      <NoticeRegion />
      <WaitingBanner />
      <SignInAgain />
    </RouterProvider>
  );
}
