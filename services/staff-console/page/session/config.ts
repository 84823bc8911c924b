import type { PageConfig } from '../../page-config.ts';

/** The path to which the provider sends staff back. */
export const signedInPath = '/signed-in';

/** What the server wrote into the page: the services' URLs, how staff sign in, the business. */
export const pageConfig: PageConfig = JSON.parse(readMeta('console-config'));

/** When the server sent the page, in Unix ms. */
export const pageTime = Number(readMeta('console-time'));

/** Whether a page of another site has led the browser here. Only the server is told, in a header that pages can't set. */
export const isFromOtherSite = readMeta('console-arrival') === 'cross-site';

function readMeta(name: string): string {
  const content = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;
  if (content === undefined) throw new Error(`the page has no ${name}`);
  return content;
}
