import { expect, it } from 'vitest';
import { describeConsole } from './stage.ts';

// Of one pixel.
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describeConsole('The pictures of products', (stage, tab) => {
  /** The addresses of pictures that could not be loaded. */
  let failed: string[];

  stage.prepare(
    `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 days', now() + interval '1 day');
       insert into products (id, name, images) values (30, 'Bare', '{}'), (31, 'Drawn',
         array[$$data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='7' height='7'><path d='M0 0h7v7z'/></svg>$$])`,
  );

  /** Opens a page where the host of the pictures has that of product 4 alone. */
  async function open(path: string): Promise<void> {
    await tab.open('/users');
    failed = [];
    tab.page.on('requestfailed', (request) => failed.push(request.url()));
    await tab.page.route('https://images.example/**', (route) =>
      route.request().url() === 'https://images.example/4.jpg'
        ? route.fulfill({ contentType: 'image/png', body: png })
        : route.abort('connectionrefused'),
    );
    await tab.heading('Customers').waitFor();
    await tab.page.goto(`${stage.origin}${path}`);
  }

  const choice = (label: string) => tab.page.getByRole('group', { name: label, exact: true });
  const option = (label: string, product: string) => choice(label).getByRole('row', { name: product, exact: true });
  const place = (label: string, product: string) => option(label, product).locator('.picture');
  /** How wide the picture is that the browser has decoded. */
  const width = (label: string, product: string) =>
    place(label, product)
      .locator('img')
      .evaluate((image) => 'complete' in image && image.complete && 'naturalWidth' in image && image.naturalWidth);

  it.each<[string, string, string, (() => Promise<void>)?]>([
    ['in a new coupon', '/coupons/new', 'Products'],
    ['in a new slot', '/slots/new', 'Products'],
    ['in a stored slot', '/slots/7', 'Products', () => tab.button('Edit products').click()],
    ['in a snippet', '/slots/7', 'Products of the snippet', () => tab.button('Add snippet').click()],
    ['in the filter of the list of slots', '/slots/list', 'Product', () => tab.button('Product: any').click()],
    ['in what is live', '/live', 'Product'],
  ])('They are shown where a product is chosen %s', async (_where, path, label, start) => {
    await open(path);
    await start?.();
    await choice(label).getByRole('searchbox').fill('Product 4');
    await expect.poll(() => width(label, 'Product 4')).toBe(1);
  });

  it('One that stands in its address is shown', async () => {
    await open('/coupons/new');
    await choice('Products').getByRole('searchbox').fill('Drawn');
    await expect.poll(() => width('Products', 'Drawn')).toBe(7);
  });

  it('One that can’t be loaded, or is missing, leaves its place empty, of the same size, without an error, and its product can be chosen', async () => {
    await open('/coupons/new');
    const size = async (product: string) => {
      await choice('Products').getByRole('searchbox').fill(product);
      await option('Products', product).waitFor();
      const { width = 0, height = 0 } = (await place('Products', product).boundingBox()) ?? {};
      return [width, height];
    };
    const full = await size('Product 4');
    expect(await size('Bare')).toEqual(full);
    expect(await place('Products', 'Bare').locator('img').count()).toBe(0);
    expect(await size('Product 5')).toEqual(full);
    await expect.poll(() => failed).toContain('https://images.example/5.jpg');
    await expect.poll(() => place('Products', 'Product 5').locator('img').count()).toBe(0);
    expect(await tab.page.getByRole('alert').count()).toBe(0);
    await option('Products', 'Product 5').click();
    await tab.button('Remove Product 5').waitFor();
  });
});
