import { randomUUID } from 'node:crypto';
import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { type Api, couponContract, planContract, slotContract } from '../../support/contract.ts';
import {
  addCoupon,
  addSlot,
  couponMutations,
  type Mutations,
  planMutations,
  slotMutations,
} from '../../support/mutations.ts';

/** The mutations of records that are there already. */
const namesOf = (mutations: object) => Object.keys(mutations).filter((name) => !/^(Create|Copy|Generate)/.test(name));

function testMutations<Service extends DescService>(
  api: Api<Service>,
  table: 'slots' | 'coupons',
  mutations: Mutations<Client<Service>>,
): void {
  const prepare = async (name: string) => {
    const mutation = await mutations[name]?.(api.sql);
    if (mutation?.guarded === undefined) throw new Error(`${name} has no call that changes nothing`);
    const { id, repeat } = mutation.guarded;
    // With the version of the row: it is not written either.
    const stateOf = () => api.sql<{ etag: string }>(`select etag, xmin, ctid from ${table} where id = $1`, [id]);
    return { mutation, repeat, stateOf };
  };
  const entriesOf = (requestId: string) => api.sql('select from audit_entries where request_id = $1', [requestId]);

  it.each(namesOf(mutations))('%s that changes nothing keeps the etag and leaves no entry', async (name) => {
    const { mutation, repeat, stateOf } = await prepare(name);
    await mutation.call(api.staff);
    const state = await stateOf();
    const requestId = randomUUID();
    const headers = { 'x-request-id': requestId };
    await repeat(api.staff, { headers });
    await repeat(api.staff, { headers }, state[0]?.etag);
    expect(await stateOf()).toEqual(state);
    expect(await entriesOf(requestId)).toEqual([]);
  });
}

/** Forty saves, each with the etag that was read before, beside two loops of calls without effect. */
async function save(
  call: () => Promise<unknown>,
  read: () => Promise<string>,
  write: (etag: string, n: number) => unknown,
) {
  let isDone = false;
  const loop = async () => {
    while (!isDone) await call();
  };
  const loops = [loop(), loop()];
  try {
    for (let n = 0; n < 40; n += 1) {
      const etag = await read();
      await call();
      await write(etag, n);
    }
  } finally {
    isDone = true;
    await Promise.all(loops);
  }
}

slotContract('Writes of slots without effect', (api) => {
  testMutations(api, 'slots', slotMutations);

  it('Of 40 saves with an etag all succeed beside calls that change nothing', async () => {
    const slotId = await addSlot(api.sql);
    await save(
      () => api.staff.updateSlotCapacity({ slotId, isCapacityFull: false }),
      async () => (await api.staff.getSlotById({ id: slotId })).slot?.etag ?? '',
      (etag, n) => api.staff.updateSlotProducts({ slotId, productIds: [n], etag }),
    );
  });

  it('A write that changes nothing asks for a refresh of the stores, as it is specified', async () => {
    const slotId = await addSlot(api.sql);
    let headers = new Headers();
    const onHeader = (received: Headers) => {
      headers = received;
    };
    await api.staff.updateSlotCapacity({ slotId, isCapacityFull: false }, { onHeader });
    expect(headers.get('store-request-id')).toMatch(/^\d+$/);
  });
});

planContract('Plans of slots without effect', (api) => {
  testMutations(api, 'slots', planMutations);

  it('A call that changes nothing asks for no refresh of the stores', async () => {
    const id = await addSlot(api.sql);
    // The refresh deletes requests meanwhile.
    const lastRequest = () => api.sql('select last_value from store_refresh_requests_id_seq');
    const before = await lastRequest();
    let headers = new Headers();
    const onHeader = (received: Headers) => {
      headers = received;
    };
    await api.staff.updateSlots({ slots: [{ id }], change: { case: 'isCapacityFull', value: false } }, { onHeader });
    expect(headers.get('store-request-id')).toBeNull();
    expect(await lastRequest()).toEqual(before);
  });
});

couponContract('Writes of coupons without effect', (api) => {
  testMutations(api, 'coupons', couponMutations);

  it('Of 40 saves with an etag all succeed beside calls that change nothing', async () => {
    const id = await addCoupon(api.sql);
    await save(
      () => api.guest.update({ id, updates: { coupon: { exclusiveApply: false } } }),
      async () => (await api.staff.getById({ id })).coupon?.etag ?? '',
      (etag, n) => api.staff.update({ id, updates: { coupon: { minOrder: n + 1 } }, etag }),
    );
  });
});
