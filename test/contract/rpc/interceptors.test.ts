import { trace } from '@opentelemetry/api';
import pino from 'pino';
import { expect, it } from 'vitest';
import { readConfig } from '../../../shared/config/config.ts';
import { Database } from '../../../shared/db/database.ts';
import { StorageQuota } from '../../../shared/rpc/idempotency/storage-quota.ts';
import { createAdmission } from '../../../shared/rpc/interceptors/admission.ts';
import { createInterceptors } from '../../../shared/rpc/interceptors/interceptors.ts';
import { OpenRequests } from '../../../shared/rpc/limits/open-requests.ts';
import { CallMetrics } from '../../../shared/telemetry/call-metrics.ts';
import { Metrics } from '../../../shared/telemetry/metrics.ts';
import { Tracing } from '../../../shared/telemetry/tracing.ts';
import { failureOf, slotContract, toJsonName } from '../../support/contract.ts';
import { protocols } from '../../support/protocols.ts';
import { nobody } from '../../support/served.ts';
import { testSecret } from '../../support/tokens.ts';

it('The interceptors are in the order that their reasons require', () => {
  const logger = pino({ level: 'silent' });
  const calls = new CallMetrics(new Metrics(logger));
  const tracing = new Tracing(trace.getTracer('test'));
  const admission = createAdmission({ calls: 1, streams: 1 }, new OpenRequests(nobody));
  const config = readConfig('slot', { DATABASE_URL: 'postgresql://127.0.0.1:1/none', AUTH_JWT_SECRET: testSecret });
  const database = new Database(config.database, logger);
  const required = { logger, authenticator: nobody, admission, quota: new StorageQuota(1), database };
  const namesWith = (optional: { calls?: CallMetrics; tracing?: Tracing }) => {
    const { calls, mutations } = createInterceptors({ ...required, ...optional });
    return [...calls, ...mutations].map(({ name }) => name);
  };
  const ofMutations = ['storageQuota', 'turns', 'idempotency'];
  const all = [
    'metrics',
    'traces',
    'logging',
    'errors',
    'identity',
    'admission',
    'validation',
    'staff',
    ...ofMutations,
  ];
  expect(namesWith({ calls, tracing })).toEqual(all);
  expect(namesWith({})).toEqual(all.filter((name) => name !== 'metrics' && name !== 'traces'));
});

slotContract.over(protocols)('The interceptors', (api) => {
  const invalid = { slotId: 1 };
  const valid = { slotId: 1, isCapacityFull: true };
  const lastCode = () => api.log.findLast(({ msg }) => msg === 'call')?.code;

  it('A call is checked for its credential, its bounds, then its staff identity, and is logged when it is refused', async () => {
    const stranger = await failureOf(api.as(undefined).updateSlotCapacity(invalid));
    expect(stranger.rawMessage).toBe('Authentication required');
    expect(lastCode()).toBe('UNAUTHENTICATED');
    const guest = await failureOf(api.guest.updateSlotCapacity(invalid));
    expect(toJsonName(guest.rawMessage)).toContain('isCapacityFull');
    expect(lastCode()).toBe('INVALID_ARGUMENT');
    const valued = await failureOf(api.guest.updateSlotCapacity(valid));
    expect(valued.rawMessage).toBe('Access denied');
    expect(lastCode()).toBe('UNAUTHENTICATED');
  });

  it('An unexpected error fails the call as INTERNAL, and the next call succeeds', async () => {
    await api.sql('alter table slots rename to elsewhere');
    const error = await failureOf(api.staff.getSlots({}));
    expect(error.rawMessage).toBe('Internal error');
    expect(lastCode()).toBe('INTERNAL');
    await api.sql('alter table elsewhere rename to slots');
    await api.staff.getSlots({});
  });
});
