import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { slotContract } from '../../support/contract.ts';
import { openSlot, written } from '../../support/slot-writes.ts';

slotContract('GetStoreStatus', (api) => {
  it('The status has the version of the stores and the number of writes that wait for a refresh', async () => {
    const stores = createClient(SlotStoreService, api.transportAs('guest'));
    const headers = await written((options) => api.staff.createSlot(openSlot(), options));
    const { version } = await stores.getStoreStatus({}, { headers });
    const status = await stores.getStoreStatus({});
    expect(status.version).toBeGreaterThanOrEqual(version);
    expect(status.pendingRequests).toBeGreaterThanOrEqual(0);
  });
});
