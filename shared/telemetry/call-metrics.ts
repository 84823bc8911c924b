import type { DescMethod } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { codeName } from '../errors/errors.ts';
import { CollectedHistogram, type HistogramLine } from '../internals/prom-client.ts';
import type { Metrics } from './metrics.ts';

/** The protocol of a call, as metrics, traces and the log name it. */
export type Protocol = 'grpc' | 'connect' | 'grpc-web';

const ok = 0;
const codes = [ok, ...Object.values(Code).filter((code) => typeof code === 'number')];
const boundsSeconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * The metrics of one procedure over one protocol. They are plain numbers, because prom-client would look up each value
 * by the text of its labels, which takes 2 µs a call.
 */
export class CallSeries {
  readonly labels: { readonly service: string; readonly method: string; readonly protocol: Protocol };
  /** Only unary calls: the duration of a stream says nothing about the service. */
  readonly isTimed: boolean;
  readonly byCode = new Array<number>(codes.length).fill(0);
  readonly byBucket = new Array<number>(boundsSeconds.length + 1).fill(0);
  seconds = 0;
  inProgress = 0;

  constructor({ parent, name, methodKind }: DescMethod, protocol: Protocol) {
    this.labels = { service: parent.typeName, method: name, protocol };
    this.isTimed = methodKind === 'unary';
  }

  begin(): void {
    this.inProgress += 1;
  }

  /** @param code undefined for a call that succeeded. */
  end(code: Code | undefined, durationMs: number): void {
    this.inProgress -= 1;
    this.byCode[code ?? ok] = (this.byCode[code ?? ok] ?? 0) + 1;
    if (!this.isTimed) return;
    const seconds = durationMs / 1_000;
    let bucket = 0;
    while (seconds > (boundsSeconds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    this.byBucket[bucket] = (this.byBucket[bucket] ?? 0) + 1;
    this.seconds += seconds;
  }
}

/** Counts and times the calls of a service, for the `metrics` interceptor. */
export class CallMetrics {
  readonly #byMethod = new Map<DescMethod, Readonly<Record<Protocol, CallSeries>>>();

  constructor(metrics: Metrics) {
    const labels = ['service', 'method', 'protocol'];
    metrics.counter(
      { name: 'rpc_server_handled_total', help: 'Calls that ended, by their code.', labels: [...labels, 'code'] },
      () =>
        this.#all().flatMap((series) =>
          series.byCode.flatMap((value, code) =>
            // OK is shown from the start: a rate needs two values, so it misses the first call of a new series.
            value > 0 || code === ok
              ? { labels: { ...series.labels, code: code === ok ? 'OK' : codeName(code) }, value }
              : [],
          ),
        ),
    );
    metrics.gauge({ name: 'rpc_server_in_progress', help: 'Calls and streams under way.', labels }, () =>
      this.#all().map((series) => ({ labels: series.labels, value: series.inProgress })),
    );
    metrics.registry.registerMetric(new CollectedHistogram(durations, () => linesOf(this.#all())));
  }

  /** Returns the series of a procedure by protocol, created at the first call. */
  of(method: DescMethod): Readonly<Record<Protocol, CallSeries>> {
    const known = this.#byMethod.get(method);
    if (known !== undefined) return known;
    const series = {
      grpc: new CallSeries(method, 'grpc'),
      connect: new CallSeries(method, 'connect'),
      'grpc-web': new CallSeries(method, 'grpc-web'),
    };
    this.#byMethod.set(method, series);
    return series;
  }

  #all(): CallSeries[] {
    return [...this.#byMethod.values()].flatMap((byProtocol) => Object.values(byProtocol));
  }
}

const durations = {
  name: 'rpc_server_handling_seconds',
  help: 'How long unary calls took, from the credential to the encoded answer.',
  labelNames: ['service', 'method', 'protocol'],
  buckets: boundsSeconds,
};

/** The lines of the series that timed a call: buckets, sum and count. */
function linesOf(all: readonly CallSeries[]): HistogramLine[] {
  const { name } = durations;
  return all.flatMap(({ labels: sharedLabels, byBucket, seconds }) => {
    let count = 0;
    const buckets = byBucket.map((added, bucket): HistogramLine => {
      count += added;
      const labels = { le: boundsSeconds[bucket] ?? '+Inf' };
      return { labels, sharedLabels, value: count, metricName: `${name}_bucket` };
    });
    if (count === 0) return [];
    const sum = { labels: {}, sharedLabels, value: seconds, metricName: `${name}_sum` };
    return [...buckets, sum, { labels: {}, sharedLabels, value: count, metricName: `${name}_count` }];
  });
}
