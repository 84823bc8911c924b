import { afterEach, expect, it } from 'vitest';
import { describeConsole } from './stage.ts';

describeConsole('The business’s time zone', (stage, tab) => {
  stage.prepare(
    `insert into slots (id, delivery_time, freeze_time)
       values (7, '2090-05-01T02:00+05:30', '2090-04-30T22:00+05:30')`,
  );

  it('A browser elsewhere names both zones, and puts a slot on the business’s day and time, on the board and in the list', async () => {
    // It is still 30 April in Los Angeles.
    await tab.open('/slots?day=2090-04-30', { timezoneId: 'America/Los_Angeles' });
    await tab.text(/^\d\d:\d\d Kolkata$/).waitFor();
    await tab.text('This computer: Los Angeles').waitFor();
    await tab
      .section(/1 May/)
      .getByRole('link', { name: /^02:00 .*Slot 7$/ })
      .waitFor();
    await tab
      .section(/30 Apr/)
      .getByText('No slots')
      .waitFor();
    await tab.page.goto(`${stage.origin}/slots/list?from=2090-05-01&until=2090-05-01`);
    await tab.link('Mon 1 May 2090, 02:00').waitFor();
    await tab.text('Slot 7').waitFor();
    await tab.fill({ To: '2090-04-30', From: '2090-04-30' });
    await tab.text('No slots found.').waitFor();
  });

  it('A browser elsewhere names the zone at the fields, too, and what is entered is the business’s time', async () => {
    await tab.open('/slots/7', { timezoneId: 'America/Los_Angeles' });
    await tab.click('Edit times and groups');
    expect(await tab.time('Delivery time').inputValue()).toBe('2090-05-01T02:00');
    await tab.text('Time in Asia/Kolkata.').first().waitFor();
    await tab.time('Delivery time').fill('2090-05-01T03:00');
    await tab.click('Save', tab.notice('Slot updated successfully'));
    const [slot] = await stage.sql('update slots set delivery_time = delivery_time returning delivery_time');
    expect(slot).toEqual({ delivery_time: new Date('2090-05-01T03:00+05:30') });
    await stage.sql(`update slots set delivery_time = '2090-05-01T02:00+05:30'`);
  });

  it('A browser in Thailand shows the year of the fields, not its own, and the business’s zone once', async () => {
    await tab.open('/slots/7', { locale: 'th-TH' });
    await tab.section('Times and groups').getByText('1 May 2090, 02:00').waitFor();
    await tab.click('Edit times and groups');
    expect(await tab.text('Kolkata').count()).toBe(1);
  });
});

describeConsole(
  'A time when the clocks change',
  (stage, tab) => {
    afterEach(async () => {
      await stage.sql('truncate slots cascade');
    });

    const deliveries = async () => {
      const rows = await stage.sql<{ delivery_time: Date }>('select delivery_time from slots');
      return rows.map((row) => row.delivery_time.toISOString());
    };

    it('A time that is skipped is told before it is saved, and one that comes twice is asked for', async () => {
      await tab.open('/slots/new', { timezoneId: 'Europe/Berlin' });
      await tab.time('Delivery time').fill('2027-03-28T02:30');
      await tab.pick('Groups', 'Group 2');
      await tab.click(
        'Create slot',
        tab.page.getByRole('alertdialog').getByText('the clocks skip 02:30. It becomes 03:30.'),
      );
      expect(await deliveries()).toEqual([]);
      await tab.click('Go back');
      await tab.time('Delivery time').fill('2027-10-31T02:30');
      const choice = tab.page.getByRole('radiogroup', { name: '02:30 comes twice on this day' });
      await choice.getByText('The second, UTC+01:00').click();
      await tab.click('Create slot', tab.notice('Slot created successfully'));
      expect(await deliveries()).toEqual(['2027-10-31T01:30:00.000Z']);
    });

    it('A slot at the second of the two shows its offset, and keeps it in an edit, also when the minutes change', async () => {
      await stage.sql(
        `insert into slots (id, delivery_time, freeze_time) values (7, '2027-10-31T01:30Z', '2027-10-30T20:00Z')`,
      );
      await tab.open('/slots?day=2027-10-31', { timezoneId: 'Europe/Berlin' });
      await tab.link(/^02:30 \(UTC\+01:00\) .*Slot 7$/).dblclick();
      await tab.section('Times and groups').getByText('31 Oct 2027, 02:30 (UTC+01:00)').waitFor();
      await tab.click('Edit times and groups');
      await tab.pick('Groups', 'Group 2');
      await tab.click('Save', tab.notice('Slot updated successfully'));
      expect(await deliveries()).toEqual(['2027-10-31T01:30:00.000Z']);
      await tab.click('Edit times and groups');
      await tab.time('Delivery time').fill('2027-10-31T02:45');
      await tab.click('Save');
      await expect.poll(deliveries).toEqual(['2027-10-31T01:45:00.000Z']);
    });
  },
  { BUSINESS_TIME_ZONE: 'Europe/Berlin' },
);
