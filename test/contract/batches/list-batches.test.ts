import { expect, it } from 'vitest';
import { batchContract, expectInvalidField } from '../../support/contract.ts';

batchContract('ListBatches', (api) => {
  const create = async (count: number) =>
    (await api.staff.createBatch({ count, coupon: { flatDiscount: 5 } })).batch?.id;

  it('Batches are listed newest first, page by page', async () => {
    const made: (number | undefined)[] = [];
    for (let batch = 0; batch < 3; batch += 1) made.push(await create(1));
    const first = await api.staff.listBatches({ limit: 2 });
    expect(first.batches.map(({ id }) => id)).toEqual([made[2], made[1]]);
    const second = await api.staff.listBatches({ limit: 1, pageToken: first.nextPageToken });
    expect(second.batches.map(({ id }) => id)).toEqual([made[0]]);
    expect([first.total, (await api.staff.listBatches({ limit: 1, withTotal: true })).total]).toEqual([undefined, 3]);
    await expectInvalidField(api.staff.listBatches({ limit: 0 }), 'limit');
    await expectInvalidField(api.staff.listBatches({ pageToken: 'x' }), 'page_token');
  });
});
