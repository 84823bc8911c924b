import { mkdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { seedDemo } from '../../../services/dev/seed/seed.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { TestService } from '../../support/service.ts';
import { signToken } from '../../support/tokens.ts';
import { colleague } from './clients.ts';
import type { ConsoleTab } from './console-tab.ts';
import { type ConsoleStage, describeConsole, type TabOptions } from './stage.ts';

const folder = fileURLToPath(new URL('../../../docs/images', import.meta.url));
const desk = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' } as const;
const phone = { ...desk, viewport: { width: 360, height: 740 }, hasTouch: true } as const;
const maxBytes = 220_000;
// Today's slots may all be closed, late in the day.
const tomorrow = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 10);

// The pictures of docs/console.md. They differ at each run, with the day, so they are made only when somebody asks for them.
describe.skipIf(!process.env.SCREENSHOTS)('With SCREENSHOTS=1', () => {
  describeConsole(
    'The screenshots of docs/console.md',
    (stage) => {
      let slotId: number;

      beforeAll(async () => {
        await mkdir(folder, { recursive: true });
        await seed(stage.slot);
        slotId = await makeChanges(stage);
      });

      /** Opens a page, and makes the picture once `shown` resolves. */
      async function picture(
        name: string,
        options: TabOptions,
        shown: (tab: ConsoleTab) => Promise<unknown>,
      ): Promise<void> {
        const token = await signToken({ staffId: 1, subject: 'asha', claims: { name: 'Asha Menon' } });
        const tab = await stage.openTab({ token, ...options });
        await shown(tab);
        // Names stand in place of numbers, once they are read.
        await expect.poll(() => tab.text(/^Loading|(?:Product|Group) \d/).count()).toBe(0);
        const file = `${folder}/console-${name}.png`;
        await tab.page.screenshot({ path: file });
        expect((await stat(file)).size).toBeLessThan(maxBytes);
        await tab.close();
      }

      it('The board of slots is pictured', () =>
        picture('board', { ...desk, path: `/slots?day=${tomorrow}` }, (tab) =>
          tab.page.locator('.slot-card').first().waitFor(),
        ));

      it('The page of a slot is pictured', () =>
        picture('slot', { ...desk, path: `/slots/${slotId}` }, (tab) => tab.heading(/^Vendor snippets/).waitFor()));

      it('The list of coupons is pictured', () =>
        picture('coupons', { ...desk, path: '/coupons?search=s' }, (tab) => tab.link('MONSOON20').waitFor()));

      it('The form of a new slot is pictured', () =>
        picture('new-slot', { ...desk, path: '/slots/new' }, (tab) => tab.button('Create slot').waitFor()));

      it('The list of slots in the dark is pictured', () =>
        picture('list-dark', { ...desk, colorScheme: 'dark', path: '/slots/list' }, (tab) =>
          tab
            .button(/^Mark full/)
            .first()
            .waitFor(),
        ));

      it('The search for everything is pictured', () =>
        picture('search', { ...desk, path: `/slots/${slotId}` }, async (tab) => {
          await tab.heading(/^Vendor snippets/).waitFor();
          await tab.press('/');
          await tab.page.getByRole('searchbox', { name: 'Search everything' }).fill('ma');
          await tab.page
            .getByRole('menuitem', { name: /Slots with/ })
            .first()
            .waitFor();
        }));

      it('What the storefront shows is pictured', () =>
        picture('live', { ...desk, path: '/live' }, (tab) => tab.text('Up to date').waitFor()));

      it('The audit trail is pictured', () =>
        picture('audit', { ...desk, path: '/audit' }, async (tab) => {
          await tab.text('1 added').first().waitFor();
        }));

      it('The board of slots on a phone is pictured', () =>
        picture('phone', { ...phone, path: `/slots?day=${tomorrow}` }, (tab) =>
          tab.page.locator('.slot-card').first().waitFor(),
        ));
    },
    { BUSINESS_CURRENCY: 'INR' },
  );
});

/** Replaces the fixture of tests by the demo catalogue. */
async function seed({ database }: TestService): Promise<void> {
  await database.sql('truncate staff_users, products, product_groups, users cascade');
  await seedDemo(database.url);
}

/** Changes some slots and coupons, as staff do on a day. Returns the slot that is pictured. */
async function makeChanges({ slot, coupon }: ConsoleStage): Promise<number> {
  const slots = await colleague(slot, SlotService, 2);
  const coupons = await colleague(coupon, CouponService, 1);
  const [next] = await slot.database.sql<{ id: number; products: number[] }>(
    `select id, array_agg(product_id order by product_id) as products
       from slots join product_slots on slot_id = id
      where freeze_time > now() + interval '20 hours' and id in (select slot_id from vendor_snippets where valid_till > now())
      group by id order by delivery_time limit 1`,
  );
  const { id, products } = next ?? { id: 0, products: [] };
  await coupons.create({
    coupon: { couponCode: 'MONSOON20', discountPercent: 20, maxValue: 300, minOrder: 800, isApplyForAll: true },
  });
  await slots.updateSlotCapacity({ slotId: id + 1, isCapacityFull: true });
  await slots.updateSlotProducts({ slotId: id, productIds: products.slice(0, 12) });
  await slots.updateSlotProducts({ slotId: id, productIds: products.slice(2, 13) });
  return id;
}
