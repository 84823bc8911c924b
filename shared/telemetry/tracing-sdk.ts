import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';
import { withTimeout } from '../cancellation/timeout.ts';
import { Tracing } from './tracing.ts';

const flushTimeoutMs = 3_000;

export interface RunningTracing {
  readonly tracing: Tracing;
  /** Sends the remaining spans; gives up after 3 s. */
  stop(): Promise<void>;
}

/**
 * Sends spans in batches from a bounded queue to the collector at OTEL_EXPORTER_OTLP_ENDPOINT. While the collector is
 * unreachable, spans are lost but calls are not delayed. The SDK reads its other variables itself.
 */
export function startTracing(serviceName: string, logger: Logger): RunningTracing {
  const log = (message: string) => logger.warn({ problem: message }, 'traces could not be sent');
  const ignore = () => undefined;
  diag.setLogger(
    { error: log, warn: log, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': serviceName }))
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }));
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register({ propagator: new W3CTraceContextPropagator() });
  return {
    tracing: new Tracing(provider.getTracer('delivery-admin')),
    async stop() {
      const flushed = withTimeout(provider.shutdown(), flushTimeoutMs, 'the collector takes too long');
      await flushed.catch((error: unknown) => log(String(error)));
      for (const api of [trace, context, propagation, diag]) api.disable();
    },
  };
}
