import {
  type Endpoint,
  type GrpcUri,
  type Resolver,
  type ResolverListener,
  registerResolver,
  splitHostPort,
  statusOrFromValue,
} from './internals.ts';

const scheme = 'static';

/** Resolves a target to its fixed list of servers. Host names are looked up at each connect. */
class StaticResolver implements Resolver {
  readonly #endpoints: Endpoint[];
  readonly #listener: ResolverListener;
  #answered = false;

  constructor(target: GrpcUri, listener: ResolverListener) {
    this.#listener = listener;
    this.#endpoints = target.path.split(',').map((address) => ({ addresses: [parseAddress(address)] }));
  }

  static getDefaultAuthority({ path }: GrpcUri): string {
    return path.split(',', 1)[0] ?? path;
  }

  updateResolution(): void {
    if (this.#answered) return;
    this.#answered = true;
    process.nextTick(() => {
      if (this.#answered) this.#listener(statusOrFromValue(this.#endpoints), {}, null, '');
    });
  }

  destroy(): void {
    this.#answered = false;
  }
}

registerResolver(scheme, StaticResolver);

/**
 * Returns the grpc-js target for a service's addresses. A single address is used as it is: a `host:port` whose name may
 * stand for several servers, or a target such as `dns:///name:port` or `unix:path`. With several addresses, each must
 * be the `host:port` of one server.
 *
 * @throws TypeError for an empty list, and for one of several addresses that is not a `host:port`.
 */
export function targetOf(addresses: readonly string[]): string {
  const [first, ...others] = addresses;
  if (first === undefined) throw new TypeError('addresses is empty: give the host:port of each server');
  if (others.length === 0) return first;
  for (const address of addresses) parseAddress(address);
  return `${scheme}:${addresses.join(',')}`;
}

function parseAddress(address: string): { host: string; port: number } {
  const { host, port } = splitHostPort(address) ?? {};
  const isWhole = /^[^\s,/]+$/.test(address) && host !== '' && port !== undefined && port > 0 && port < 65_536;
  if (host === undefined || !isWhole) throw new TypeError(`the address "${address}" is no host:port`);
  return { host, port };
}
