import { readFileSync } from 'node:fs';
import { createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { readAlertRules, readDashboard, selectorsIn } from '../../support/prometheus.ts';
import { protocols } from '../../support/protocols.ts';
import { runService } from '../../support/running-service.ts';
import { scrape } from '../../support/scrape.ts';
import { startTestService } from '../../support/service.ts';

const protocolLabels: Record<string, string> = {
  gRPC: 'grpc',
  Connect: 'connect',
  'Connect GET': 'connect',
  'gRPC-Web': 'grpc-web',
};

describe.each(protocols)('The metrics of calls over $name', (protocol) => {
  const service = runService('slot', undefined, protocol);
  const series = (method: string) =>
    `service="slot.v1.${method.replace('/', '",method="')}",protocol="${protocolLabels[protocol.name]}"`;
  const handled = async (method: string, code: string) =>
    (await scrape(service.metricsPort)).value(`rpc_server_handled_total{${series(method)},code="${code}"}`);

  const slots = createClient(SlotService, service.staff);

  it('The metrics count and time each call', async () => {
    expect(await handled('SlotService/GetSlots', 'OK')).toBe(0);
    for (let n = 0; n < 3; n += 1) await slots.getSlots({});
    expect(await handled('SlotService/GetSlots', 'OK')).toBe(3);
    const { value } = await scrape(service.metricsPort);
    const seconds = (suffix: string, le = '') => value(`rpc_server_handling_seconds_${suffix}{${suffixed(le)}}`);
    const suffixed = (le: string) => `${le === '' ? '' : `le="${le}",`}${series('SlotService/GetSlots')}`;
    expect(seconds('count')).toBe(3);
    expect(seconds('bucket', '+Inf')).toBe(3);
    expect(seconds('bucket', '10')).toBe(3);
    expect(seconds('bucket', '0.0001')).toBe(0);
    expect(seconds('sum')).toBeGreaterThan(0.000_3);
    expect(seconds('sum')).toBeLessThan(30);
  });

  it('The metrics count refused calls by their code', async () => {
    await createClient(SlotService, service.nobody)
      .getSlots({})
      .catch(() => undefined);
    await slots.getSlotById({ id: 4711 }).catch(() => undefined);
    await slots.updateSlotCapacity({ slotId: 1 }).catch(() => undefined);
    expect(await handled('SlotService/GetSlots', 'UNAUTHENTICATED')).toBe(1);
    expect(await handled('SlotService/GetSlotById', 'NOT_FOUND')).toBe(1);
    expect(await handled('SlotService/UpdateSlotCapacity', 'INVALID_ARGUMENT')).toBe(1);
  });

  it('The metrics show a stream while it is open, and do not time it', async () => {
    const stores = createClient(SlotStoreService, service.staff);
    const open = async () =>
      (await scrape(service.metricsPort)).value(`rpc_server_in_progress{${series('SlotStoreService/WatchStore')}}`);
    const leaving = new AbortController();
    const versions = stores.watchStore({}, { signal: leaving.signal })[Symbol.asyncIterator]();
    await versions.next();
    expect(await open()).toBe(1);
    leaving.abort();
    await expect(versions.next()).rejects.toThrow();
    await expect.poll(open).toBe(0);
    expect((await scrape(service.metricsPort)).text).not.toMatch(/handling_seconds.*WatchStore/);
  });
});

describe('The metrics port', () => {
  const operating = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8');
  const [, documented = ''] = /^## Metrics$(.*?)^## /ms.exec(operating) ?? [];

  it('The metrics port serves well-formed metrics, and nothing else', async () => {
    const service = await startTestService('coupon');
    try {
      const path = `http://127.0.0.1:${service.webPort}/coupon.v1.CouponService/GetAll`;
      await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
      const { text } = await scrape(service.metricsPort);
      const declared = new Set<string>();
      for (const line of text.split('\n').filter((candidate) => candidate !== '')) {
        const [, type] = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line) ?? [];
        if (type !== undefined) declared.add(type);
        if (line.startsWith('#')) {
          expect(line).toMatch(/^# (TYPE|HELP) [a-z_]+ \S/);
          continue;
        }
        expect(line).toMatch(/^[a-z_]+(?:\{(?:[a-z_]+="[^"\\]*",?)+\})? -?[\d.e+-]+$/);
        const name = /^\w+/.exec(line)?.[0] ?? '';
        expect(declared).toContain(declared.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''));
      }
      for (const path of ['/', '/metrics/x', '/coupon.v1.CouponService/GetAll']) {
        expect((await fetch(`http://127.0.0.1:${service.metricsPort}${path}`)).status).toBe(404);
      }
      expect((await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`, { method: 'POST' })).status).toBe(404);
      // The web port does not serve them.
      expect((await fetch(`http://127.0.0.1:${service.webPort}/metrics`)).status).toBe(404);
    } finally {
      await service.stop();
    }
  });

  /** The names of the metrics of both services. */
  async function readNames(): Promise<string[]> {
    const told: string[] = [];
    for (const name of ['slot', 'coupon'] as const) {
      const service = await startTestService(name);
      const { text } = await scrape(service.metricsPort);
      await service.stop();
      told.push(...[...text.matchAll(/^# TYPE (\w+)/gm)].map(([, metric = '']) => metric));
    }
    return told;
  }

  it('The metrics ports serve the metrics that the alert rules and the dashboard use', async () => {
    const told = [...(await readNames()), 'up'];
    const expressions = [...readAlertRules().map(({ expr }) => expr), ...readDashboard()];
    const used = selectorsIn(expressions.join('\n')).map((selector) => selector.replace(/\{.*/, ''));
    expect(new Set(used).size).toBeGreaterThan(20);
    const isTold = (name: string) => told.includes(name) || told.includes(name.replace(/_(bucket|count)$/, ''));
    expect(used.filter((name) => !isTold(name))).toEqual([]);
  });

  it('The metrics ports serve the metrics that docs/operating.md lists, and no others', async () => {
    const told = await readNames();
    const listed = [...documented.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([a-z_]+\*?)`/g)].map(([, name = '']) => new RegExp(`^${name.replace('*', '\\w+')}$`)),
    );
    expect(listed.length).toBeGreaterThan(10);
    for (const pattern of listed) expect(told).toContainEqual(expect.stringMatching(pattern));
    for (const name of told) expect(listed.filter((pattern) => pattern.test(name))).toHaveLength(1);
  });

  it('A service without a metrics port serves no metrics', async () => {
    const service = await startTestService('coupon', () => ({ metricsPort: undefined }));
    expect(service.metricsPort).toBeUndefined();
    await service.stop();
  });
});
