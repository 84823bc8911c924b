import type { DescService } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import type { ChannelOptions, ServiceConfig } from '@grpc/grpc-js';

/** At most 0.7 s of waiting in all, each wait 20 % more or less. */
const retryPolicy = {
  maxAttempts: 4,
  initialBackoff: '0.1s',
  maxBackoff: '1s',
  backoffMultiplier: 2,
  retryableStatusCodes: ['UNAVAILABLE'],
};

/**
 * How calls of the services are spread and retried: over all addresses in turn, and again at
 * UNAVAILABLE where the contract says NO_SIDE_EFFECTS. A mutation may have been done, so it is not.
 */
export function createServiceConfig(services: readonly DescService[]): ServiceConfig {
  const queries = services
    .flatMap(({ methods }) => methods)
    .filter(({ idempotency }) => idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS);
  const name = queries.map((method) => ({ service: method.parent.typeName, method: method.name }));
  return {
    loadBalancingConfig: [{ round_robin: {} }],
    methodConfig: name.length === 0 ? [] : [{ name, retryPolicy }],
    // In an outage callers must not multiply the load: 50 failures end all retries to the target,
    // and every 10 successes give one back.
    retryThrottling: { maxTokens: 100, tokenRatio: 0.1 },
  };
}

/** The options of a channel to the services. */
export function createChannelOptions(services: readonly DescService[]): ChannelOptions {
  return {
    'grpc.service_config': JSON.stringify(createServiceConfig(services)),
    // What holds for queries comes from the contract, not from a TXT record.
    'grpc.service_config_disable_resolution': 1,
    // A server that vanished without a word is found within 25 s, also between calls. Servers of
    // grpc-js take any ping; others may ask for rarer ones.
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.keepalive_permit_without_calls': 1,
    // Unset, a server that was away for long is looked for every two minutes.
    'grpc.max_reconnect_backoff_ms': 5_000,
    // The services bound what they are sent, not what they answer.
    'grpc.max_receive_message_length': -1,
  };
}
