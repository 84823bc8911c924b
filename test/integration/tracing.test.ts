import { describe, expect, it, type TestContext } from 'vitest';
import { findFreePort } from '../../shared/dev/ports.ts';
import { attributesOf, Collector, type ReceivedSpan } from '../support/collector.ts';
import type { Replica } from '../support/replica.ts';
import { scrape } from '../support/scrape.ts';
import { signToken } from '../support/tokens.ts';
import { type Backend, describeBackends, eventually, Stage } from './stores-stage.ts';
import { openSlot, outcomeOf, readCovering, createSlot as writeSlot } from './stores-writes.ts';

const timeout = 60_000;
const traceId = (n: number) => n.toString(16).padStart(32, 'a');
const parentId = 'b7ad6b7169203331';
const traceparent = (n: number, flags = '01') => ({ traceparent: `00-${traceId(n)}-${parentId}-${flags}` });
const kinds = { server: 2, client: 3, consumer: 5 };

async function startReplica(
  { onTestFinished }: TestContext,
  url: string,
  env: Record<string, string> = {},
  backend: Backend = 'PostgreSQL',
) {
  const stage = await Stage.open(backend);
  onTestFinished(() => stage.close());
  const sendSoon = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '50' };
  return { stage, replica: await stage.start({ env: { ...sendSoon, ...env }, refreshDelayMs: 1_000 }) };
}

async function start(context: TestContext, env?: Record<string, string>, backend?: Backend) {
  const collector = await Collector.start();
  context.onTestFinished(() => collector.close());
  return { collector, ...(await startReplica(context, collector.url, env, backend)) };
}

/** The span of that trace with the name, once it is there. */
function spanOf(collector: Collector, n: number, name: string): Promise<ReceivedSpan> {
  return eventually(() => {
    const span = collector.spans.find((candidate) => candidate.traceId === traceId(n) && candidate.name === name);
    if (span === undefined) throw new Error(`no span ${name} in trace ${n}`);
    return span;
  });
}

const createSlot = (replica: Replica, n: number) => replica.slots.createSlot(openSlot(), { headers: traceparent(n) });

describe.concurrent('Traces', () => {
  it('continue that of the caller, down to the statements', { timeout }, async (context) => {
    const { collector, replica } = await start(context);
    await createSlot(replica, 1);
    const server = await spanOf(collector, 1, 'slot.v1.SlotService/CreateSlot');
    expect(server).toMatchObject({ parentSpanId: parentId, kind: kinds.server, links: [] });
    expect(attributesOf(server)).toEqual({
      'rpc.system': 'grpc',
      'rpc.service': 'slot.v1.SlotService',
      'rpc.method': 'CreateSlot',
      'rpc.grpc.status_code': 0,
    });
    const statements = collector.spans.filter(({ parentSpanId }) => parentSpanId === server.spanId);
    const names = statements.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['staffUserExists', 'createSlot']));
    for (const statement of statements) {
      expect(statement).toMatchObject({ traceId: traceId(1), kind: kinds.client });
      expect(attributesOf(statement)).toEqual({ 'db.system': 'postgresql' });
    }
    expect(collector.services).toEqual(new Set(['slot-service']));
    const line = await eventually(() => expectLine(replica, traceId(1)));
    expect(line.method).toBe('slot.v1.SlotService/CreateSlot');
  });

  it('tell what went wrong by code, and blame only the service for its own faults', { timeout }, async (context) => {
    const { collector, replica, stage } = await start(context);
    await outcomeOf(replica.slots.getSlotById({ id: 4711 }, { headers: traceparent(1) }));
    const refused = await spanOf(collector, 1, 'slot.v1.SlotService/GetSlotById');
    expect(refused.status.code).toBe(0);
    expect(attributesOf(refused)['rpc.grpc.status_code']).toBe(5);
    await stage.database.sql('alter table slots rename to elsewhere');
    await outcomeOf(replica.slots.getSlots({}, { headers: traceparent(2) }));
    const failed = await spanOf(collector, 2, 'slot.v1.SlotService/GetSlots');
    expect(failed.status).toEqual({ code: 2 });
    expect(attributesOf(failed)['error.type']).toBe('INTERNAL');
    expect((await spanOf(collector, 2, 'getSlots')).status).toEqual({ code: 2 });
  });

  it('hold no token, no value of a request and none of a statement', { timeout }, async (context) => {
    const { collector, replica } = await start(context);
    const token = await signToken({ staffId: 1, subject: 'secret-subject' });
    const snippet = { name: 'secret-snippet', productIds: [77_001_177] };
    const headers = { ...traceparent(1), authorization: `Bearer ${token}`, 'x-request-id': 'secret-request' };
    const slot = { ...openSlot([88_002_288]), vendorSnippets: [snippet] };
    await outcomeOf(replica.slots.createSlot(slot, { headers }));
    await spanOf(collector, 1, 'slot.v1.SlotService/CreateSlot');
    const sent = collector.bodies.join();
    for (const secret of ['secret-', token.slice(0, 20), '77001177', '88002288', 'insert into', 'Bearer']) {
      expect(sent).not.toContain(secret);
    }
  });

  it('are those of Connect calls too, and begin here without a caller', { timeout }, async (context) => {
    const { collector, replica } = await start(context, { OTEL_SERVICE_NAME: 'renamed' });
    const { webPort } = expectServing(replica);
    const call = (headers: object) =>
      fetch(`http://127.0.0.1:${webPort}/slot.v1.SlotService/GetSlots`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
    await call(traceparent(1));
    const span = await spanOf(collector, 1, 'slot.v1.SlotService/GetSlots');
    expect(attributesOf(span)).toMatchObject({
      'rpc.system': 'connect_rpc',
      'rpc.connect_rpc.error_code': 'unauthenticated',
    });
    expect(collector.services).toEqual(new Set(['renamed']));
    await call({ traceparent: 'nonsense' });
    const begun = await eventually(() => {
      const found = collector.spans.find(({ name, parentSpanId }) => name.endsWith('GetSlots') && !parentSpanId);
      if (found === undefined) throw new Error('no trace was begun');
      return found;
    });
    await eventually(() => expectLine(replica, begun.traceId));
  });

  it('are not of a caller that is not sampled', { timeout }, async (context) => {
    const { collector, replica } = await start(context);
    await replica.slots.getSlots({}, { headers: traceparent(1, '00') });
    await replica.slots.getSlots({}, { headers: traceparent(2) });
    await spanOf(collector, 2, 'slot.v1.SlotService/GetSlots');
    expect(collector.spans.filter((span) => span.traceId === traceId(1))).toEqual([]);
    await eventually(() => expectLine(replica, traceId(1)));
  });

  it('go on in the fetch of the key set', { timeout }, async (context) => {
    const keys = await Collector.start();
    context.onTestFinished(() => keys.close());
    const auth = { AUTH_JWT_SECRET: '', AUTH_JWKS_URL: keys.url, AUTH_ISSUER: 'issuer', AUTH_AUDIENCE: 'audience' };
    const { collector, replica } = await start(context, auth);
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const authorization = `Bearer ${encode({ alg: 'RS256' })}.${encode({})}.${encode({})}`;
    const { webPort } = expectServing(replica);
    await fetch(`http://127.0.0.1:${webPort}/slot.v1.SlotService/GetSlots`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization, ...traceparent(1) },
      body: '{}',
    });
    const { spanId } = await spanOf(collector, 1, 'slot.v1.SlotService/GetSlots');
    expect(keys.headers.map((headers) => headers.traceparent)).toEqual([`00-${traceId(1)}-${spanId}-01`]);
  });

  it('are sent to the end, with the headers that the collector wants', { timeout }, async (context) => {
    const env = { OTEL_BSP_SCHEDULE_DELAY: '600000', OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=k1' };
    const { collector, replica } = await start(context, env);
    await replica.slots.getSlots({}, { headers: traceparent(1) });
    expect(collector.spans).toEqual([]);
    expect(await replica.stop()).toBe(0);
    await spanOf(collector, 1, 'slot.v1.SlotService/GetSlots');
    expect(collector.headers[0]).toMatchObject({ 'x-collector-key': 'k1' });
  });

  it.for(['away', 'hung'])('disturb no call while the collector is %s', { timeout }, async (state, context) => {
    const hung = state === 'hung' ? await Collector.start({ hangs: true }) : undefined;
    context.onTestFinished(() => hung?.close());
    const url = hung?.url ?? `http://127.0.0.1:${await findFreePort()}`;
    const small = { OTEL_BSP_MAX_QUEUE_SIZE: '64', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '32' };
    const { replica } = await startReplica(context, url, small);
    let maxMs = 0;
    // More than the queue holds.
    for (let n = 0; n < 200; n += 1) {
      const begun = performance.now();
      await replica.slots.getSlots({});
      maxMs = Math.max(maxMs, performance.now() - begun);
    }
    // An export is given up after 10 s.
    expect(maxMs).toBeLessThan(4_000);
    const stopping = performance.now();
    expect(await replica.stop()).toBe(0);
    expect(performance.now() - stopping).toBeLessThan(9_000);
  });
});

describeBackends('Traces', (backend) => {
  it('link a refresh to the writes that requested it together', { timeout }, async (context) => {
    const metricsPort = await findFreePort();
    const { collector, replica, stage } = await start(context, { SLOT_METRICS_PORT: String(metricsPort) }, backend);
    // A deduplicated add loses its links: the refreshes of the start are over, and only the next sweep is queued.
    await readCovering(replica, await writeSlot(replica), 20_000);
    await eventually(async () => {
      const { value } = await scrape(metricsPort);
      const states = ['waiting', 'active', 'delayed'].map((state) =>
        value(`jobs{job="store-refresh",state="${state}"}`),
      );
      expect(states).toEqual([0, 0, 1]);
    });
    await stage.holding('lock table store_refresh_requests in exclusive mode', async (release) => {
      const writing = Promise.all([1, 2].map((n) => createSlot(replica, n)));
      await eventually(async () => {
        const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        expect(await stage.database.sql(blocked)).toHaveLength(2);
      });
      await release();
      await writing;
    });
    const writes = await Promise.all([1, 2].map((n) => spanOf(collector, n, 'slot.v1.SlotService/CreateSlot')));
    const refresh = await eventually(() => {
      const linked = collector.spans.filter(({ name, links }) => name === 'store-refresh' && links.length > 0);
      const ids = linked.flatMap(({ links }) => links.map(({ spanId }) => spanId));
      expect(ids).toEqual(expect.arrayContaining(writes.map(({ spanId }) => spanId)));
      return linked[0];
    });
    expect(refresh).toMatchObject({ kind: kinds.consumer });
    expect(refresh?.parentSpanId).toBeUndefined();
    expect(writes.map((write) => write.traceId)).not.toContain(refresh?.traceId);
    const names = collector.spans
      .filter(({ parentSpanId }) => parentSpanId === refresh?.spanId)
      .map(({ name }) => name);
    expect(names).toContain('refreshStores');
  });
});

function expectServing({ log }: Replica) {
  const line = log.find(({ msg }) => msg === 'serving');
  if (line === undefined) throw new Error('it does not serve');
  return line;
}

function expectLine({ log }: Replica, id: string) {
  const line = log.find((candidate) => candidate.msg === 'call' && candidate.traceId === id);
  if (line === undefined) throw new Error(`no line of a call has the trace ${id}`);
  return line;
}
