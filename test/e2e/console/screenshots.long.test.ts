import { mkdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { seedDemo } from '../../../services/dev/seed/seed.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { TestService } from '../../support/service.ts';
import { signToken } from '../../support/tokens.ts';
import { colleague } from './clients.ts';
import type { ConsoleTab } from './console-tab.ts';
import { type ConsoleStage, describeConsole, tomorrow } from './stage.ts';

const folder = fileURLToPath(new URL('../../../docs/images', import.meta.url));
const desk = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' } as const;
// A page with so many words that its picture would be too large otherwise.
const low = { ...desk, viewport: { width: 1280, height: 760 } } as const;
const phone = { ...desk, viewport: { width: 360, height: 740 }, hasTouch: true } as const;
const maxBytes = 220_000;

// The pictures of docs/console.md. They differ at each run, with the day, so they are made only when somebody asks for them.
describe.skipIf(!process.env.SCREENSHOTS)('With SCREENSHOTS=1', () => {
  describeConsole(
    'The screenshots of docs/console.md',
    (stage, tab) => {
      let slotId: number;

      beforeAll(async () => {
        await mkdir(folder, { recursive: true });
        await seed(stage.slot);
        slotId = await makeChanges(stage);
      });

      const firstCard = (tab: ConsoleTab) => tab.page.locator('.slot-card').first();
      const firstMatch = async (tab: ConsoleTab) => {
        await tab.heading(/^Vendor snippets/).waitFor();
        await tab.press('/');
        await tab.page.getByRole('searchbox', { name: 'Search everything' }).fill('ma');
        return tab.page.getByRole('menuitem', { name: /Slots with/ }).first();
      };
      const ofSlot = () => `/slots/${slotId}`;

      it.each<[string, string, () => string, object, (tab: ConsoleTab) => Locator | Promise<Locator>]>([
        ['The overview', 'overview', () => '/', desk, (tab) => tab.page.locator('.plot canvas')],
        ['The board of slots', 'board', () => `/slots?day=${tomorrow}`, desk, firstCard],
        ['The page of a slot', 'slot', ofSlot, low, (tab) => tab.heading(/^Vendor snippets/)],
        ['The list of coupons', 'coupons', () => '/coupons?search=s', desk, (tab) => tab.link('MONSOON20')],
        ['The form of a new slot', 'new-slot', () => '/slots/new', desk, (tab) => tab.button('Create slot')],
        [
          ...(['The list of slots in the dark', 'list-dark', () => '/slots/list'] as const),
          ...([{ ...desk, colorScheme: 'dark' }, (tab: ConsoleTab) => tab.page.locator('.badge').first()] as const),
        ],
        ['The search for everything', 'search', ofSlot, desk, firstMatch],
        ['What the storefront shows', 'live', () => '/live', desk, (tab) => tab.text('Up to date')],
        ['The audit trail', 'audit', () => '/audit', desk, (tab) => tab.text('1 added').first()],
        ['The board of slots on a phone', 'phone', () => `/slots?day=${tomorrow}`, phone, firstCard],
      ])('%s is pictured', async (_what, name, path, device, shown) => {
        const token = await signToken({ staffId: 1, subject: 'asha', claims: { name: 'Asha Menon' } });
        await tab.open(path(), { token, ...device });
        await (await shown(tab)).waitFor();
        // Names stand in place of numbers, once they are read.
        await expect.poll(() => tab.text(/^Loading|(?:Product|Group) \d/).count()).toBe(0);
        const file = `${folder}/console-${name}.png`;
        await tab.page.screenshot({ path: file });
        expect((await stat(file)).size).toBeLessThan(maxBytes);
      });
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
