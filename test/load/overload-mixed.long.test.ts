import { ConnectError } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { post } from '../support/post.ts';
import { Stage } from '../support/stage.ts';
import { signToken } from '../support/tokens.ts';

const calls = 100;
const deadline = { timeoutMs: 10_000 };

it('300 mixed calls of one caller at once are all answered within 10 s, each service on the same core', async () => {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  await stage.database.sql(`
    insert into slots (delivery_time, freeze_time, delivery_sequence)
      select now() + interval '9 days', now() + interval '8 days',
        jsonb_build_object('1', (select jsonb_agg(i) from generate_series(1, 20) i))
      from generate_series(1, 3000);
    insert into coupons (coupon_code, discount_percent, is_apply_for_all, created_by)
      select 'CODE' || n, 10, true, 1 from generate_series(1, 5000) n;
    analyze`);
  const [slot, coupon] = await Promise.all([stage.start({ core: 0 }), stage.start({ service: 'coupon', core: 0 })]);
  const token = await signToken({ staffId: 1 });
  const outcomes = Array.from({ length: calls }, () => [
    readSlots(slot.ports.webPort, token),
    coupon.coupons.getAll({}, deadline).then((page) => page.coupons.length),
    coupon.coupons.validate({ code: 'CODE7', userId: 1, orderAmount: 10 }, deadline).then(({ valid }) => valid),
  ]).flat();
  const answers = await Promise.all(
    outcomes.map((outcome) => outcome.catch((error) => ConnectError.from(error).message)),
  );
  expect(new Set(answers)).toEqual(new Set([200, 50, true]));
});

/** Reads the slots, and does not decode them: that would take the test longer than the service. */
async function readSlots(webPort: number, token: string): Promise<number> {
  const headers = { 'content-type': 'application/proto', 'connect-timeout-ms': String(deadline.timeoutMs) };
  const response = await post(webPort, 'GetSlots', token, Buffer.alloc(0), headers);
  await response.arrayBuffer();
  return response.status;
}
