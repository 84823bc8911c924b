import type { PageConfig } from '../../page-config.ts';

/** The path to which the provider sends staff back. */
export const signedInPath = '/signed-in';

/** Reads the configuration that the server wrote into the page: the services' URLs, and how staff sign in. */
export function readPageConfig(): PageConfig {
  const content = document.querySelector<HTMLMetaElement>('meta[name="console-config"]')?.content;
  if (content === undefined) throw new Error('the page has no configuration');
  return JSON.parse(content);
}
