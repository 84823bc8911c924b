import { useQuery } from '@tanstack/react-query';
import type { ComponentType } from 'react';
import { Loading, Page } from '../ui/page.tsx';
import { words } from '../words.ts';

interface PageModule {
  readonly Component: ComponentType;
}

/**
 * Returns a function that fetches a page, for the router. The router fetches each page once, and would show for ever that
 * it could not: instead, a page that can't be fetched now is fetched once the device is online.
 */
export function page(fetch: () => Promise<PageModule>): () => Promise<PageModule> {
  return () => fetch().catch(() => ({ Component: () => <LatePage fetch={fetch} /> }));
}

function LatePage({ fetch }: { fetch(): Promise<PageModule> }) {
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
  if (fetchStatus !== 'paused') return <Loading what="the page" />;
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
