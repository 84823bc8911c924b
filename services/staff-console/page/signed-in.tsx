import { TransportProvider } from '@connectrpc/connect-query';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { RouterProvider } from 'react-router';
import { router } from './routes.tsx';
import { notices } from './rpc/notices.ts';
import { createQueryClient } from './rpc/query-client.ts';
import { createTransports, TransportsContext } from './rpc/transport.ts';

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
