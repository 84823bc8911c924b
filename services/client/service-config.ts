import type { DescService } from '@bufbuild/protobuf';
import type { ChannelOptions, ServiceConfig } from '@grpc/grpc-js';

/** Waits 0.7 s in total at most, and each wait varies by 20 %. */
const retryPolicy = {
  maxAttempts: 4,
  initialBackoff: '0.1s',
  maxBackoff: '1s',
  backoffMultiplier: 2,
  retryableStatusCodes: ['UNAVAILABLE'],
};

/**
 * Returns the gRPC service config. Calls go to all addresses in turn, and are retried at UNAVAILABLE. A mutation may have been
 * executed by then: its idempotency key keeps the retry from executing it again.
 */
function createServiceConfig(services: readonly DescService[]): ServiceConfig {
  return {
    loadBalancingConfig: [{ round_robin: {} }],
    methodConfig: [{ name: services.map(({ typeName: service }) => ({ service })), retryPolicy }],
    // In an outage, retries must not multiply the load: after 50 failures all retries to the target stop, and every 10
    // successes allow one more.
    retryThrottling: { maxTokens: 100, tokenRatio: 0.1 },
  };
}

/** Returns the options of a channel to the services. */
export function createChannelOptions(services: readonly DescService[]): ChannelOptions {
  return {
    'grpc.service_config': JSON.stringify(createServiceConfig(services)),
    // A TXT record in DNS must not replace the service config.
    'grpc.service_config_disable_resolution': 1,
    // A connection that no longer answers is detected within 25 s, also between calls. Servers of grpc-js allow any
    // ping interval; other servers may require a longer one.
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.keepalive_permit_without_calls': 1,
    // By default, the wait before a reconnect grows to two minutes.
    'grpc.max_reconnect_backoff_ms': 5_000,
    // The services limit the size of requests, but not of responses.
    'grpc.max_receive_message_length': -1,
  };
}
