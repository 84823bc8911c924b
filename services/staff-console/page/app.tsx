import { TransportProvider } from '@connectrpc/connect-query';
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { RouterProvider } from 'react-router';
import { setBusiness } from './business/business.ts';
import { router } from './routes.tsx';
import { notices } from './rpc/notices.ts';
import { createQueryClient } from './rpc/query-client.ts';
import { createTransports, TransportsContext } from './rpc/transport.ts';
import { readPageConfig } from './session/config.ts';
import { session, useSession } from './session/session.ts';
import { startSession } from './session/sign-in.ts';
import { SignInPage } from './sign-in/sign-in-page.tsx';

setBusiness(readPageConfig());
startSession((address) => router.navigate(address, { replace: true }));

/** The staff console (design 11). */
export function App(): ReactNode {
  const { token, isStarting } = useSession();
  if (token === undefined || isStarting) return <SignInPage />;
  // The key resets the page, so that the next person does not see what this one has read or entered.
  return <SignedIn key={token.subject} />;
}

function SignedIn(): ReactNode {
  const [queryClient] = useState(createQueryClient);
  const [transports] = useState(() => createTransports(readPageConfig(), session));
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
