import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { GetAllRequestSchema } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { programArguments } from '../support/processes.ts';
import { signToken } from '../support/tokens.ts';
import { expectNoHarm, retries } from './bystander.ts';
import { targetOf } from './overload-stage.ts';
import { grpcFrame, requestHeaders } from './overload-wire.ts';

const attackMs = 10_000;

const seed = `
  insert into users (name, mobile) values ('User', '9000000001');
  insert into coupons (coupon_code, discount_percent, is_apply_for_all, created_by)
    select 'CODE' || n, 10, true, 1 from generate_series(1, 1000) n;
  analyze`;

describe('A flood of HTTP/2 resets on the gRPC port', { retry: retries }, () => {
  const target = targetOf({ service: 'coupon', seed });

  /** Starts a process that resets GetAll of 1,000 coupons as fast as it can, on connections that it opens again and again. */
  async function startAttack(connections: number, open: number, subject: string | undefined): Promise<ChildProcess> {
    const token = subject === undefined ? undefined : await signToken({ subject });
    const message = toBinary(GetAllRequestSchema, create(GetAllRequestSchema, { limit: 1_000 }));
    const args = [
      ...[target().grpcPort, connections, open].map(String),
      ...[JSON.stringify(requestHeaders('/coupon.v1.CouponService/GetAll', token)), grpcFrame(message).toString('hex')],
    ];
    const command = [process.execPath, ...programArguments('test/load/reset-attacker.ts'), ...args];
    return spawn('taskset', ['-c', '1', ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  it.each([
    ['of one caller, 4 connections', 4, 0, 'rash'],
    ['of one caller, 4 connections, each reset after its work has begun', 4, 90, 'late'],
    ['without a credential, 2 connections', 2, 0, undefined],
    ['without a credential, 2 connections, a little open', 2, 8, undefined],
  ])('It harms no other caller: %s', async (_name, connections, open, subject) => {
    const toValidate = { code: 'CODE1', userId: 1, orderAmount: 100 };
    const validate = (timeoutMs: number) => target().replica.coupons.validate(toValidate, { timeoutMs });
    let opened = 0;
    const flood = async () => {
      const attack = await startAttack(connections, open, subject);
      let told = '';
      attack.stdout?.on('data', (part) => {
        told += part;
      });
      await pause(attackMs);
      attack.stdin?.end();
      await once(attack, 'close');
      opened = JSON.parse(told).connects;
    };
    await expectNoHarm(target().replica, validate, flood, subject === undefined ? 200 : 500);
    // Each was closed again and again.
    expect(opened).toBeGreaterThan(4 * connections);
  });
});
