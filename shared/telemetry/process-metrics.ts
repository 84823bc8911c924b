import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

// A finer resolution takes a noticeable share of a core.
const resolutionMs = 50;
const quantiles = [0.5, 0.99] as const;

/**
 * Registers metrics of this process: processor, memory and event loop. prom-client's default metrics are not used,
 * because their event loop monitor and garbage collection observer can't be stopped.
 *
 * @returns a function that stops the measurements.
 */
export function watchProcess(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  // The measured delay includes the interval of the monitor's own timer.
  const lag = (nanoseconds: number) => Math.max(nanoseconds / 1e9 - resolutionMs / 1e3, 0);

  metrics.gauge(
    'nodejs_eventloop_lag_seconds',
    'How late the event loop was since the last scrape; quantile 1 is the longest.',
    () => {
      const samples = quantiles.map((quantile) => ({
        labels: { quantile: String(quantile) },
        value: lag(delay.percentile(quantile * 100)),
      }));
      samples.push({ labels: { quantile: '1' }, value: lag(delay.max) });
      delay.reset();
      return samples;
    },
    ['quantile'],
  );
  metrics.counter('process_cpu_seconds_total', 'User and system processor time.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.gauge('process_resident_memory_bytes', 'Memory in RAM.', () => process.memoryUsage.rss());
  metrics.gauge(
    'nodejs_heap_size_bytes',
    'The JavaScript heap: what it holds, and its size.',
    () => {
      const { heapUsed, heapTotal } = process.memoryUsage();
      return [
        { labels: { state: 'used' }, value: heapUsed },
        { labels: { state: 'total' }, value: heapTotal },
      ];
    },
    ['state'],
  );
  const startedAt = Math.round(Date.now() / 1e3 - process.uptime());
  metrics.gauge('process_start_time_seconds', 'When it started, in Unix time.', () => startedAt);
  return () => delay.disable();
}
