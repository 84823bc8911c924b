import type { PageConfig } from '../../page-config.ts';

/** The path to which the provider sends staff back. */
export const signedInPath = '/signed-in';

/** Reads the configuration that the server wrote into the page: the services' URLs, how staff sign in, the business. */
export function readPageConfig(): PageConfig {
  return JSON.parse(readMeta('console-config'));
}

/** Reads the time in Unix ms at which the server sent the page. */
export function readPageTime(): number {
  return Number(readMeta('console-time'));
}

/** Whether a page of another site has led the browser here. Only the server is told, in a header that pages can't set. */
export function isFromOtherSite(): boolean {
  return readMeta('console-arrival') === 'cross-site';
}

function readMeta(name: string): string {
  const content = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;
  if (content === undefined) throw new Error(`the page has no ${name}`);
  return content;
}
