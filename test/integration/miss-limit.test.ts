import { afterAll, beforeAll, expect, it } from 'vitest';
import { MissLimit } from '../../services/coupon-service/guessing/miss-limit.ts';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { staffCall } from '../support/call-context.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { testSecret } from '../support/tokens.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createDatabase();
  const config = readConfig('coupon', { DATABASE_URL: testDatabase.url, AUTH_JWT_SECRET: testSecret });
  database = new Database(config.database, createLogger('test', 'silent'));
});
afterAll(async () => {
  await database.close();
  await testDatabase.close();
});

it('A read that began before the last misses were counted is judged by them, and a later one by what it has read', async () => {
  const limit = new MissLimit(database, 3);
  const call = staffCall(CouponService.method.validate);
  const before = limit.paramsOf(call);
  for (let miss = 1; miss <= 3; miss += 1) {
    limit.requireMissLeft(before, { misses: 0, msToWindowEnd: null });
    await limit.count(limit.paramsOf(call), call);
  }
  expect(() => limit.requireMissLeft(before, { misses: 0, msToWindowEnd: null })).toThrow('Too many coupon codes');
  const after = { ...before, nowMs: Date.now() + 1 };
  limit.requireMissLeft(after, { misses: 2, msToWindowEnd: 1 });
  expect(() => limit.requireMissLeft(after, { misses: 3, msToWindowEnd: 1 })).toThrow('Too many coupon codes');
});
