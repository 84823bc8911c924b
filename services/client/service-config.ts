import type { DescService } from '@bufbuild/protobuf';
import type { ChannelOptions, ServiceConfig } from '@grpc/grpc-js';

/** The waits add up to 0.7 s at most, and each varies by 20 %. */
const retryPolicy = {
  maxAttempts: 4,
  initialBackoff: '0.1s',
  maxBackoff: '1s',
  backoffMultiplier: 2,
  retryableStatusCodes: ['UNAVAILABLE'],
};

/**
 * Returns the gRPC service config. Calls use all addresses in turn, and are retried on UNAVAILABLE. A mutation may
 * have been executed by then; its idempotency key keeps a retry from executing it again.
 */
function createServiceConfig(services: readonly DescService[]): ServiceConfig {
  return {
    loadBalancingConfig: [{ round_robin: {} }],
    methodConfig: [{ name: services.map(({ typeName: service }) => ({ service })), retryPolicy }],
    // Retries must not multiply the load in an outage. After 50 failures all retries to the target stop, and every 10
    // successes allow one more.
    retryThrottling: { maxTokens: 100, tokenRatio: 0.1 },
  };
}

/** Returns the options of a channel to the services. */
export function createChannelOptions(services: readonly DescService[]): ChannelOptions {
  return {
    'grpc.service_config': JSON.stringify(createServiceConfig(services)),
    // A DNS TXT record must not replace the service config.
    'grpc.service_config_disable_resolution': 1,
    // Detects a dead connection within 25 s, even between calls. grpc-js servers allow any ping interval; other servers
    // may require a longer one.
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.keepalive_permit_without_calls': 1,
    // By default, the wait before a reconnect grows to two minutes.
    'grpc.max_reconnect_backoff_ms': 5_000,
    // The services limit the size of requests, but not of responses.
    'grpc.max_receive_message_length': -1,
  };
}
