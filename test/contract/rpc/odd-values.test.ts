import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { couponContract, expectInvalidField, failureOf, slotContract } from '../../support/contract.ts';
import { cannot, protocols } from '../../support/protocols.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };

slotContract.over(protocols)('A delivery sequence', (api) => {
  const nested = (depth: number): JsonValue => (depth === 0 ? 1 : [nested(depth - 1)]);
  const update = async (value: JsonValue) => {
    const { slot } = await api.staff.createSlot(times);
    const deliverySequence = fromJson(ValueSchema, value);
    return api.staff.updateDeliverySequence({ id: slot?.id ?? 0, deliverySequence });
  };

  it('A delivery sequence may be nested as deep as every protocol reads', async () => {
    await update(nested(32));
    await api.staff.getAll({});
    await expectInvalidField(update(nested(33)), 'delivery_sequence');
  });
});

slotContract('A snippet date at the limits', (api) => {
  it('A snippet date at the limits is read back in any time zone of the database', async () => {
    await api.sql(
      `do $$ begin execute format('alter database %I set timezone = ''Asia/Kolkata''', current_database()); end $$`,
    );
    await api.sql(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    );
    await expect
      .poll(() =>
        api.staff.getSlots({}).then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('up');
    const dates = ['0001-01-01', '1900-01-01', '9999-12-31T23:59:59Z'];
    const vendorSnippets = dates.map((validTill) => ({ name: validTill, productIds: [1], validTill }));
    const { slot } = await api.staff.createSlot({ ...times, vendorSnippets });
    const detail = await api.staff.getSlotById({ id: slot?.id ?? 0 });
    const seconds = detail.slot?.vendorSnippets.map(({ validTill }) => Number(validTill?.seconds) * 1000);
    expect(seconds).toEqual(dates.map((date) => Date.parse(date)));
  });
});

couponContract.over(protocols.filter((protocol) => !cannot(protocol, 'carry text that is no Unicode')))(
  'Text that is not Unicode',
  (api) => {
    it('Text that is not Unicode is refused and not replaced', async () => {
      await failureOf(api.staff.create({ coupon: { flatDiscount: 5, couponCode: 'A\ud800' } }));
      expect(await api.sql(`select 1 from coupons where coupon_code like 'A%'`)).toEqual([]);
    });
  },
);
