import type { DescMethod } from '@bufbuild/protobuf';
import type { Code } from '@connectrpc/connect';
import { Counter, Histogram } from 'prom-client';
import { codeName } from '../errors/errors.ts';
import type { Metrics } from './metrics.ts';

/** The protocol of a call, as named in metrics, traces and the log. */
export type Protocol = 'grpc' | 'connect' | 'grpc-web';

const labelNames = ['service', 'method', 'protocol'];
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts and times the calls of a service, for the `metrics` interceptor. */
export class CallMetrics {
  readonly #handled: Counter;
  readonly #seconds: Histogram;
  readonly #inProgress: { readonly labels: Readonly<Record<string, string>>; value: number }[] = [];

  constructor(metrics: Metrics) {
    const registers = [metrics.registry];
    this.#handled = new Counter({
      name: 'rpc_server_handled_total',
      help: 'Calls that ended, by their code.',
      labelNames: [...labelNames, 'code'],
      registers,
    });
    metrics.gauge('rpc_server_in_progress', 'Calls and streams under way.', () => this.#inProgress, labelNames);
    this.#seconds = new Histogram({
      name: 'rpc_server_handling_seconds',
      help: 'How long unary calls took, from the credential to the encoded answer.',
      labelNames,
      buckets,
      registers,
    });
  }

  /**
   * Returns a function that marks the start of a call. It returns a function that marks the call's end,
   * given the code of its error.
   */
  of({ parent, name, methodKind }: DescMethod, protocol: Protocol): () => (code?: Code) => void {
    const labels = { service: parent.typeName, method: name, protocol };
    const inProgress = { labels, value: 0 };
    this.#inProgress.push(inProgress);
    const handled = (code: string) => this.#handled.labels({ ...labels, code });
    const succeeded = handled('OK');
    // OK exists from the start. A rate needs two samples, so it would miss the first call of a new series.
    succeeded.inc(0);
    const seconds = this.#seconds.labels(labels);
    return () => {
      const startMs = performance.now();
      inProgress.value += 1;
      return (code) => {
        inProgress.value -= 1;
        if (code === undefined) succeeded.inc();
        else handled(codeName(code)).inc();
        // A stream's duration says nothing about the service.
        if (methodKind === 'unary') seconds.observe((performance.now() - startMs) / 1_000);
      };
    };
  }
}
