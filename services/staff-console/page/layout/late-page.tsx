import { type ComponentType, useEffect, useState } from 'react';
import { Loading, Page } from '../ui/page.tsx';
import { words } from '../words.ts';
import { useOnline } from './use-online.ts';

interface PageModule {
  readonly Component: ComponentType;
}

/**
 * Returns a function that fetches a page, for the router. The router fetches each page once, and would show for ever that
 * it could not: instead, a page that can't be fetched now is fetched once the device is online.
 */
export function page(fetch: () => Promise<PageModule>): () => Promise<PageModule> {
  return () => fetch().catch(() => ({ Component: latePage(fetch) }));
}

const mostFailures = 3;
const pauseMs = 1_000;

function latePage(fetch: () => Promise<PageModule>): ComponentType {
  let fetched: PageModule | undefined;
  return function LatePage() {
    const isOnline = useOnline();
    const [late, setLate] = useState(fetched);
    const [failures, setFailures] = useState<readonly unknown[]>([]);
    useEffect(() => {
      if (!isOnline || fetched !== undefined) return undefined;
      const fetchNow = () => {
        fetchStylesAgain();
        fetch().then(
          (module) => {
            fetched = module;
            setLate(module);
          },
          (error) => setFailures([...failures, error]),
        );
      };
      // A device that has just come online may need a moment until it reaches anything.
      const timer = setTimeout(fetchNow, pauseMs * failures.length);
      return () => clearTimeout(timer);
    }, [isOnline, failures]);
    if (late !== undefined) return <late.Component />;
    // The page around it tells it, and offers a reload.
    if (failures.length === mostFailures) throw failures.at(-1);
    if (isOnline) return <Loading what="the page" />;
    return (
      <Page title={words.frame.latePage}>
        <p>{words.frame.latePageAdvice}</p>
      </Page>
    );
  };
}

/** Vite adds the styles of a page only once, whether or not they have arrived. */
function fetchStylesAgain(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')) {
    if (link.sheet === null) link.replaceWith(link.cloneNode());
  }
}
