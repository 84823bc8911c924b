/** Follows the page tokens to the last page. Resolves with all pages. */
export async function readPages<Page extends { readonly nextPageToken: string }>(
  read: (pageToken: string) => Promise<Page>,
  { from = '', between }: { readonly from?: string; readonly between?: (pages: number) => Promise<unknown> } = {},
): Promise<Page[]> {
  const pages: Page[] = [];
  let pageToken = from;
  do {
    if (pages.length > 0) await between?.(pages.length);
    const page = await read(pageToken);
    pages.push(page);
    if (pages.length > 5_000) throw new Error('the pages have no end');
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return pages;
}
