import type { PageConfig } from '../../page-config.ts';

/** Where the provider sends staff back to. */
export const signedInPath = '/signed-in';

/** Reads what the server has written into the page: where the services are, and how staff sign in. */
export function readPageConfig(): PageConfig {
  const content = document.querySelector<HTMLMetaElement>('meta[name="console-config"]')?.content;
  if (content === undefined) throw new Error('the page has no configuration');
  return JSON.parse(content);
}
