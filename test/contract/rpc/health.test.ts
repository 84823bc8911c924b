import { Client, credentials } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { describe, expect, it } from 'vitest';
import { run } from '../../support/processes.ts';
import { runService } from '../../support/running-service.ts';
import type { TestService } from '../../support/service.ts';
import { signToken } from '../../support/tokens.ts';

describe('The gRPC port', () => {
  const [slot, coupon] = [runService('slot'), runService('coupon')];

  const health = (service: TestService, name: string) =>
    new Promise<string>((resolve) => {
      const client = new Client(`127.0.0.1:${service.grpcPort}`, credentials.createInsecure());
      const { Check: check } = healthService;
      if (check === undefined) throw new Error('the health service has no check');
      const { path, requestSerialize, responseDeserialize } = check;
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service: name }, (error, answer) => {
        client.close();
        resolve(error?.details ?? JSON.stringify(answer));
      });
    });

  it('Health on the gRPC port covers the server and each service, and needs no credential', async () => {
    for (const name of [
      '',
      'slot.v1.SlotService',
      'slot.v1.SlotBookingService',
      'slot.v1.SlotStoreService',
      'slot.v1.SlotPlanService',
      'catalog.v1.CatalogService',
      'catalog.v1.ImportService',
    ]) {
      expect(await health(slot, name)).toBe('{"status":"SERVING"}');
    }
    for (const name of ['coupon.v1.CouponService', 'coupon.v1.RedemptionService', 'coupon.v1.CouponBatchService']) {
      expect(await health(coupon, name)).toBe('{"status":"SERVING"}');
    }
    expect(await health(coupon, 'nonsense')).toContain('unknown');
  });

  it('buf curl calls the gRPC port with the schema from reflection', async () => {
    const token = await signToken({ staffId: 1 });
    const call = (method: string, data: object, header: string) =>
      run('npx', [
        ...['buf', 'curl', '--http2-prior-knowledge', '--protocol', 'grpc', '-H', header],
        ...['-d', JSON.stringify(data), `http://127.0.0.1:${slot.grpcPort}/slot.v1.SlotService/${method}`],
      ]);
    const bearer = `authorization: Bearer ${token}`;
    const created = await call('CreateSlot', { deliveryTime: '2030-01-02', freezeTime: '2030-01-01' }, bearer);
    const { slot: record } = JSON.parse(created.stdout);
    expect(record).toMatchObject({ deliveryTime: '2030-01-02T00:00:00Z', isActive: true });
    const listed = JSON.parse((await call('GetAll', {}, bearer)).stdout);
    expect(listed).toMatchObject({ count: 1, slots: [{ id: record.id }] });
    const one = JSON.parse((await call('GetSlotById', { id: record.id }, bearer)).stdout);
    expect(one.slot.id).toBe(record.id);
    const refused = await call('GetAll', {}, 'x-nothing: 1');
    expect(refused.stderr).toContain('unauthenticated');
  });
});
