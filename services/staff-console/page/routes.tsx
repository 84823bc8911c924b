import { TransportProvider } from '@connectrpc/connect-query';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { type ComponentType, useEffect, useState } from 'react';
import { createBrowserRouter, RouterProvider } from 'react-router';
import { Shell } from './layout/shell.tsx';
import { notices } from './rpc/notices.ts';
import { createQueryClient } from './rpc/query-client.ts';
import { createTransports, TransportsContext } from './rpc/transport.ts';
import { BrokenPage, Loading, NoSuchPage, Page } from './ui/page.tsx';
import { words } from './words.ts';

/** The pages by path. Each is fetched when it is first opened. */
const router = createBrowserRouter([
  {
    Component: Shell,
    ErrorBoundary: BrokenPage,
    HydrateFallback: () => <Loading what={words.frame.thePage} />,
    children: [
      {
        ErrorBoundary: BrokenPage,
        children: [
          { index: true, lazy: page(() => import('./overview/overview-page.tsx')) },
          { path: 'slots', lazy: page(() => import('./slots/week/week-page.tsx')) },
          { path: 'slots/list', lazy: page(() => import('./slots/list-page.tsx')) },
          { path: 'slots/new', lazy: page(() => import('./slots/new-slot-page.tsx')) },
          { path: 'slots/sheets', lazy: page(() => import('./slots/sheets/sheets-page.tsx')) },
          { path: 'slots/:id', lazy: page(() => import('./slots/slot-page.tsx')) },
          { path: 'live', lazy: page(() => import('./live/live-page.tsx')) },
          { path: 'audit', lazy: page(() => import('./audit/audit-page.tsx')) },
          { path: 'coupons', lazy: page(() => import('./coupons/list-page.tsx')) },
          { path: 'coupons/new', lazy: page(() => import('./coupons/new-page.tsx')) },
          { path: 'coupons/refund', lazy: page(() => import('./coupons/issue/refund-page.tsx')) },
          { path: 'coupons/phone', lazy: page(() => import('./coupons/issue/phone-page.tsx')) },
          { path: 'coupons/reserved', lazy: page(() => import('./coupons/reserved/list-page.tsx')) },
          { path: 'coupons/reserved/new', lazy: page(() => import('./coupons/reserved/new-page.tsx')) },
          { path: 'coupons/batches', lazy: page(() => import('./coupons/batches/list-page.tsx')) },
          { path: 'coupons/batches/new', lazy: page(() => import('./coupons/batches/new-page.tsx')) },
          { path: 'coupons/batches/:id', lazy: page(() => import('./coupons/batches/batch-page.tsx')) },
          { path: 'coupons/:id', lazy: page(() => import('./coupons/coupon-page.tsx')) },
          { path: 'coupons/:id/edit', lazy: page(() => import('./coupons/edit-page.tsx')) },
          { path: 'orders', lazy: page(() => import('./redemptions/order-page.tsx')) },
          { path: 'check', lazy: page(() => import('./coupons/check-page.tsx')) },
          { path: 'users', lazy: page(() => import('./users/users-page.tsx')) },
          { path: 'users/:id', lazy: page(() => import('./users/user-page.tsx')) },
          { path: '*', Component: NoSuchPage },
        ],
      },
    ],
  },
]);

/** What the person who is signed in sees: the page of the address. */
export function SignedIn() {
  const [queryClient] = useState(createQueryClient);
  const [transports] = useState(createTransports);
  useEffect(() => () => notices.clear(), []);
  return (
    <TransportsContext value={transports}>
      <TransportProvider transport={transports.any}>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </TransportProvider>
    </TransportsContext>
  );
}

/** Goes to an address instead of the present one. */
export const goTo = (address: string) => router.navigate(address, { replace: true });

type FetchPage = () => Promise<{ readonly Component: ComponentType }>;

/** Fetches a page for the router, which would fetch it only once: one that can't be fetched now is fetched later. */
function page(fetch: FetchPage): FetchPage {
  return () => fetch().catch(() => ({ Component: () => <LatePage fetch={fetch} /> }));
}

function LatePage({ fetch }: { readonly fetch: FetchPage }) {
  const { data, error, fetchStatus } = useQuery({
    // The text of the function names the file of the page.
    queryKey: ['page', String(fetch)],
    queryFn: () => {
      fetchStylesAgain();
      return fetch();
    },
    staleTime: 'static',
    // A device that has just come online may need a moment until it reaches anything.
    retry: 2,
    retryDelay: (failures) => 1_000 * (failures + 1),
    refetchInterval: false,
  });
  if (data !== undefined) return <data.Component />;
  // The page around it tells it, and offers a reload.
  if (error !== null) throw error;
  if (fetchStatus !== 'paused') return <Loading what={words.frame.thePage} />;
  return (
    <Page title={words.frame.latePage}>
      <p>{words.frame.latePageAdvice}</p>
    </Page>
  );
}

/** Vite adds the styles of a page only once, whether or not they have arrived. */
function fetchStylesAgain(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')) {
    if (link.sheet === null) link.replaceWith(link.cloneNode());
  }
}
