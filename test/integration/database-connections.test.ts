import { readFileSync } from 'node:fs';
import { createClient } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { holding } from '../support/locks.ts';
import { startTestService } from '../support/service.ts';
import { openSlot } from '../support/slot-writes.ts';
import { signToken, withToken } from '../support/tokens.ts';

const page = readFileSync(new URL('../../docs/deploying.md', import.meta.url), 'utf8');
const documented = (service: string) =>
  Number(new RegExp(`^\\| ${service}-service[^|]*\\| (\\d+) \\|`, 'm').exec(page)?.[1]);

it.each(['slot', 'coupon'] as const)(
  'A replica of %s-service opens no more connections to the database than docs/deploying.md counts',
  async (name) => {
    const service = await startTestService(name);
    onTestFinished(() => service.stop());
    const connections = async () => {
      const rows = await service.database.sql<{ name: string }>(`select application_name as name
        from pg_stat_activity where datname = current_database() and application_name <> ''`);
      return rows.map((row) => row.name);
    };
    await holding(service.database.url, 'lock table slots, coupons in access exclusive mode', async (lock) => {
      const calls: Promise<unknown>[] = [];
      // Few callers leave some connections free for others.
      for (let caller = 0; caller < 15; caller += 1) {
        const subject = `caller-${caller}`;
        const transport = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
        onTestFinished(() => transport.close());
        const withSubject = withToken(transport, await signToken({ staffId: 1, subject }));
        const [slots, coupons] = [createClient(SlotService, withSubject), createClient(CouponService, withSubject)];
        for (let n = 0; n < 2; n += 1) {
          const couponCode = `${subject}-${n}`;
          const coupon = () => coupons.create({ coupon: { couponCode, discountPercent: 1 } });
          calls.push(name === 'slot' ? slots.createSlot(openSlot()) : coupon());
        }
      }
      const settled = Promise.allSettled(calls);
      const ofPool = async () => (await connections()).filter((each) => each === `${name}-service`).length;
      await expect.poll(ofPool).toBe(15);
      // How many of the jobs' connections are open depends on the moment.
      expect((await connections()).length).toBeLessThanOrEqual(documented(name));
      await lock.release();
      await settled;
    });
  },
);
