import { beforeAll, describe, expect, it } from 'vitest';
import { procedures, recordsForCalls } from '../../support/calls.ts';
import { expectError, failureOf } from '../../support/contract.ts';
import { everyRow } from '../../support/every-row.ts';
import { runService } from '../../support/running-service.ts';

/** What every authenticated caller may call (spec 5, design 4 and 13). */
const open = [
  ...['getOpenSlots', 'getProductSlots', 'getStoreStatus', 'watchStore'].map((name) => `SlotStoreService.${name}`),
  ...['getAll', 'getById', 'getReservedCoupons', 'getUsersMiniInfo', 'validate', 'update', 'delete'].map(
    (name) => `CouponService.${name}`,
  ),
  ...['redeem', 'check', 'confirm', 'release', 'claim'].map((name) => `RedemptionService.${name}`),
  ...['book', 'confirm', 'release', 'move', 'getAvailability'].map((name) => `SlotBookingService.${name}`),
  ...['SlotService.getDeliverySequence', 'CatalogService.resolve'],
];

describe.each(['slot', 'coupon'] as const)('The staff identity in calls of %s-service', (name) => {
  const service = runService(name);
  const as = (staffId?: number) => service.as({ staffId });
  beforeAll(() => service.sql(recordsForCalls));

  const forStaff = procedures[name].filter((procedure) => !open.includes(procedure.name));
  const reasonOf = (procedure: string) => (procedure.startsWith('CouponService') ? 'UNAUTHORIZED' : 'ACCESS_DENIED');

  it.each([
    ...forStaff.map((procedure) => ({ ...procedure, staffId: undefined })),
    ...forStaff.map((procedure) => ({ ...procedure, staffId: 999 })),
  ])('$name by a caller with the staff id $staffId, of no staff user, is refused and changes nothing', async (call) => {
    const before = await everyRow(service.database);
    await expectError(call.succeeds(as(call.staffId), 1), reasonOf(call.name));
    expect(await everyRow(service.database)).toEqual(before);
  });

  it.each(forStaff)('$name may be called by any staff user', async ({ succeeds }) => {
    await expect(succeeds(as(2), 1)).resolves.toBeDefined();
  });

  it.each(procedures[name].filter((procedure) => open.includes(procedure.name)))(
    '$name may be called without a staff identity',
    async ({ succeeds }) => {
      await expect(succeeds(as(), 2)).resolves.toBeDefined();
    },
  );

  it.each(forStaff.filter((procedure) => !procedure.name.startsWith('CouponService')))(
    '$name is refused to a caller without a staff identity before any other rule is checked',
    async ({ refused }) => {
      const guest = as();
      await expectError(refused({ staff: guest, guest, nobody: guest }), 'ACCESS_DENIED');
    },
  );

  it.each(forStaff)('$name checks the declared bounds before the staff identity', async ({ invalid }) => {
    if (invalid !== undefined) expect((await failureOf(invalid(as()))).code).toBe(3);
  });
});
