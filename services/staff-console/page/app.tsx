import { TransportProvider } from '@connectrpc/connect-query';
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { RouterProvider } from 'react-router';
import { router } from './routes.tsx';
import { createQueryClient } from './rpc/query-client.ts';
import { createTransports, TransportsContext } from './rpc/transport.ts';
import { readPageConfig } from './session/config.ts';
import { session, useSession } from './session/session.ts';
import { SignInPage } from './session/sign-in-page.tsx';

const transports = createTransports(readPageConfig(), session);
const queryClient = createQueryClient();

/** The staff console (design 11). */
export function App(): ReactNode {
  const { token } = useSession();
  const isSignedIn = token !== undefined;
  // The next person must not see what this one has read.
  useEffect(() => {
    if (!isSignedIn) queryClient.clear();
  }, [isSignedIn]);
  if (!isSignedIn) return <SignInPage />;
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
