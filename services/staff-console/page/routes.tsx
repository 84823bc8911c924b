import { createBrowserRouter, Navigate } from 'react-router';
import { Shell } from './layout/shell.tsx';
import { Loading } from './ui/page.tsx';
import { BrokenPage, NoSuchPage } from './ui/wrong-page.tsx';

/** The pages by path. Each is fetched when it is first opened. */
export const router = createBrowserRouter([
  {
    Component: Shell,
    ErrorBoundary: BrokenPage,
    HydrateFallback: () => <Loading what="the page" />,
    children: [
      {
        ErrorBoundary: BrokenPage,
        children: [
          { index: true, element: <Navigate to="/slots" replace /> },
          { path: 'slots', lazy: () => import('./slots/week/week-page.tsx') },
          { path: 'slots/list', lazy: () => import('./slots/list-page.tsx') },
          { path: 'slots/new', lazy: () => import('./slots/new-slot-page.tsx') },
          { path: 'slots/sheets', lazy: () => import('./slots/sheets/sheets-page.tsx') },
          { path: 'slots/:id', lazy: () => import('./slots/slot-page.tsx') },
          { path: 'live', lazy: () => import('./live/live-page.tsx') },
          { path: 'audit', lazy: () => import('./audit/audit-page.tsx') },
          { path: 'coupons', lazy: () => import('./coupons/list-page.tsx') },
          { path: 'coupons/new', lazy: () => import('./coupons/new-page.tsx') },
          { path: 'coupons/refund', lazy: () => import('./coupons/issue/refund-page.tsx') },
          { path: 'coupons/phone', lazy: () => import('./coupons/issue/phone-page.tsx') },
          { path: 'coupons/reserved', lazy: () => import('./coupons/reserved/list-page.tsx') },
          { path: 'coupons/reserved/new', lazy: () => import('./coupons/reserved/new-page.tsx') },
          { path: 'coupons/batches', lazy: () => import('./coupons/batches/list-page.tsx') },
          { path: 'coupons/batches/new', lazy: () => import('./coupons/batches/new-page.tsx') },
          { path: 'coupons/batches/:id', lazy: () => import('./coupons/batches/batch-page.tsx') },
          { path: 'coupons/:id', lazy: () => import('./coupons/coupon-page.tsx') },
          { path: 'coupons/:id/edit', lazy: () => import('./coupons/edit-page.tsx') },
          { path: 'check', lazy: () => import('./coupons/check-page.tsx') },
          { path: 'users', lazy: () => import('./users/users-page.tsx') },
          { path: 'users/:id', lazy: () => import('./users/user-page.tsx') },
          { path: '*', Component: NoSuchPage },
        ],
      },
    ],
  },
]);
