import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { attributesOf, Collector, type ReceivedSpan } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { holding, lockSlots } from '../support/locks.ts';
import { post } from '../support/post.ts';
import type { Replica } from '../support/replica.ts';
import { openSlot, outcomeOf, readCovering, createSlot as writeSlot } from '../support/slot-writes.ts';
import { type Backend, describeBackends, Stage } from '../support/stage.ts';
import { signToken } from '../support/tokens.ts';

const traceId = (n: number) => n.toString(16).padStart(32, 'a');
const parentId = 'b7ad6b7169203331';
const traceparent = (n: number, flags = '01') => ({ traceparent: `00-${traceId(n)}-${parentId}-${flags}` });
const kinds = { server: 2, client: 3, consumer: 5 };

interface Traced {
  readonly stage: Stage;
  readonly replica: Replica;
  readonly collector: Collector;
  close(): Promise<void>;
}

/** Starts a replica that sends its spans to a collector. */
async function open(
  collector: Collector,
  env: Readonly<Record<string, string>> = {},
  backend: Backend = 'PostgreSQL',
): Promise<Traced> {
  const stage = await Stage.open(backend);
  const sendSoon = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
  const replica = await stage.start({ env: { ...sendSoon, ...env }, refreshDelayMs: 1_000 });
  return {
    stage,
    replica,
    collector,
    async close() {
      await stage.close();
      collector.close();
    },
  };
}

async function start({ onTestFinished }: TestContext, env?: Readonly<Record<string, string>>, backend?: Backend) {
  const traced = await open(await Collector.start(), env, backend);
  onTestFinished(() => traced.close());
  return traced;
}

/** The span with that name in the trace, once it is there. */
function spanOf(collector: Collector, n: number, name: string): Promise<ReceivedSpan> {
  return eventually(() => {
    const span = collector.spans.find((candidate) => candidate.traceId === traceId(n) && candidate.name === name);
    if (span === undefined) throw new Error(`no span ${name} in trace ${n}`);
    return span;
  });
}

const createSlot = (replica: Replica, n: number) => replica.slots.createSlot(openSlot(), { headers: traceparent(n) });

describe('Traces of one replica', () => {
  let traced: Traced;
  beforeAll(async () => {
    traced = await open(await Collector.start());
  });
  afterAll(() => traced.close());

  it("A trace continues the caller's, down to the statements", async () => {
    const { collector, replica } = traced;
    await createSlot(replica, 1);
    const server = await spanOf(collector, 1, 'slot.v1.SlotService/CreateSlot');
    expect(server).toMatchObject({ parentSpanId: parentId, kind: kinds.server, links: [] });
    expect(attributesOf(server)).toEqual({
      ...{ 'rpc.system': 'grpc', 'rpc.service': 'slot.v1.SlotService', 'rpc.method': 'CreateSlot' },
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

  it('A span has the code of the call, and an error status only for faults of the service', async () => {
    const { collector, replica, stage } = traced;
    await outcomeOf(replica.slots.getSlotById({ id: 4711 }, { headers: traceparent(2) }));
    const refused = await spanOf(collector, 2, 'slot.v1.SlotService/GetSlotById');
    expect(refused.status.code).toBe(0);
    expect(attributesOf(refused)['rpc.grpc.status_code']).toBe(5);
    await stage.database.sql('alter table slots rename to elsewhere');
    await outcomeOf(replica.slots.getSlots({}, { headers: traceparent(3) }));
    await stage.database.sql('alter table elsewhere rename to slots');
    const failed = await spanOf(collector, 3, 'slot.v1.SlotService/GetSlots');
    expect(failed.status).toEqual({ code: 2 });
    expect(attributesOf(failed)['error.type']).toBe('INTERNAL');
    expect((await spanOf(collector, 3, 'getSlots')).status).toEqual({ code: 2 });
  });

  it('The span of a shared statement belongs to the first of its calls', async () => {
    const { collector, replica, stage } = traced;
    await holding(stage.database.url, lockSlots, async (lock) => {
      const read = (n: number) => outcomeOf(replica.slots.getSlots({}, { headers: traceparent(n) }));
      const first = read(30);
      await lock.untilAwaited();
      const sharing = [read(31), read(32)];
      // A later call on the same connection: when it is answered, the two have arrived, and wait.
      await replica.stores.getStoreStatus({});
      await lock.release();
      await Promise.all([first, ...sharing]);
    });
    const calls = await Promise.all([31, 32].map((n) => spanOf(collector, n, 'slot.v1.SlotService/GetSlots')));
    const { parentSpanId } = await spanOf(collector, 31, 'getSlots');
    expect(parentSpanId).toBe(calls[0]?.spanId);
    expect(collector.spans.filter(({ name, traceId }) => name === 'getSlots' && traceId === calls[1]?.traceId)).toEqual(
      [],
    );
  });

  it('A span contains no token, no value of a request and no SQL', async () => {
    const { collector, replica } = traced;
    const token = await signToken({ staffId: 1, subject: 'secret-subject' });
    const snippet = { name: 'secret-snippet', productIds: [77_001_177] };
    const headers = { ...traceparent(4), authorization: `Bearer ${token}`, 'x-request-id': 'secret-request' };
    const slot = { ...openSlot([88_002_288]), vendorSnippets: [snippet] };
    await outcomeOf(replica.slots.createSlot(slot, { headers }));
    await spanOf(collector, 4, 'slot.v1.SlotService/CreateSlot');
    const sent = collector.bodies.join();
    for (const secret of ['secret-', token.slice(0, 20), '77001177', '88002288', 'insert into', 'Bearer']) {
      expect(sent).not.toContain(secret);
    }
  });

  it('A call over Connect is traced, and begins a trace when its caller sends none', async () => {
    const { collector, replica } = traced;
    const call = (headers: Record<string, string>) =>
      post(replica.ports.webPort, 'GetSlots', 'no token', '{}', headers);
    await call(traceparent(5));
    const span = await spanOf(collector, 5, 'slot.v1.SlotService/GetSlots');
    expect(attributesOf(span)).toMatchObject({
      'rpc.system': 'connect_rpc',
      'rpc.connect_rpc.error_code': 'unauthenticated',
    });
    await call({ traceparent: 'nonsense' });
    const begun = await eventually(() => {
      const found = collector.spans.find(({ name, parentSpanId }) => name.endsWith('GetSlots') && !parentSpanId);
      if (found === undefined) throw new Error('no trace was begun');
      return found;
    });
    await eventually(() => expectLine(replica, begun.traceId));
  });

  it('A call whose caller does not sample its trace sends no span, and logs the trace id', async () => {
    const { collector, replica } = traced;
    await replica.slots.getSlots({}, { headers: traceparent(6, '00') });
    await replica.slots.getSlots({}, { headers: traceparent(7) });
    await spanOf(collector, 7, 'slot.v1.SlotService/GetSlots');
    expect(collector.spans.filter((span) => span.traceId === traceId(6))).toEqual([]);
    await eventually(() => expectLine(replica, traceId(6)));
  });
});

describe.concurrent('Traces of replicas with settings', () => {
  it('A replica that stops sends its last spans, with the headers and the service name that are set', async (context) => {
    const { expect } = context;
    const named = { OTEL_SERVICE_NAME: 'renamed', OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=k1' };
    const env = { OTEL_BSP_SCHEDULE_DELAY: '600000', ...named };
    const { collector, replica } = await start(context, env);
    await replica.slots.getSlots({}, { headers: traceparent(1) });
    expect(collector.spans).toEqual([]);
    expect(await replica.stop()).toBe(0);
    await spanOf(collector, 1, 'slot.v1.SlotService/GetSlots');
    expect(collector.headers[0]).toMatchObject({ 'x-collector-key': 'k1' });
    expect(collector.services).toEqual(new Set(['renamed']));
  });

  it.for(['away', 'hung'])('A collector that is %s delays neither calls nor the stop', async (state, context) => {
    const { expect, onTestFinished } = context;
    const collector = await Collector.start({ hangs: true });
    if (state === 'away') collector.close();
    const small = { OTEL_BSP_MAX_QUEUE_SIZE: '64', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '32' };
    const { replica, close } = await open(collector, small);
    onTestFinished(close);
    let maxMs = 0;
    // More calls than the queue holds spans.
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

describeBackends('Traces of refreshes', (backend) => {
  it('A refresh is a span of its own, with its statements as children', async (context) => {
    const { expect } = context;
    const { collector, replica } = await start(context, {}, backend);
    await readCovering(replica, await writeSlot(replica), 20_000);
    await eventually(() => {
      const refreshes = collector.spans.filter(({ name }) => name === 'store-refresh');
      expect(refreshes.map(({ kind, parentSpanId }) => [kind, parentSpanId])).toContainEqual([
        kinds.consumer,
        undefined,
      ]);
      const children = collector.spans.filter(({ parentSpanId }) =>
        refreshes.some(({ spanId }) => spanId === parentSpanId),
      );
      expect(children.map(({ name }) => name)).toContain('takeRequests');
    }, 20_000);
  });
});

function expectLine({ log }: Replica, id: string) {
  const line = log.find((candidate) => candidate.msg === 'call' && candidate.traceId === id);
  if (line === undefined) throw new Error(`no line of a call has the trace ${id}`);
  return line;
}
