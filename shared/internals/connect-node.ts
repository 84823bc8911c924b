import * as library from '@connectrpc/connect-node';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * The conversions between Node's requests and Connect's, of which connect-node warns that they may
 * change. We need them because connect-node's own adapter has no place to bound a request before it is
 * decoded, or to change an error response of its own before it is sent.
 */
export const connectNode = new PinnedLibrary('@connectrpc/connect-node', '2.1.2');

export const { universalRequestFromNodeRequest, universalResponseToNodeResponse } = library;

/** Throws a `ConfigError` when connect-node no longer exports one of the conversions. */
export function checkConnectNode(exported: object = library): void {
  for (const name of ['universalRequestFromNodeRequest', 'universalResponseToNodeResponse']) {
    connectNode.check(typeof Reflect.get(exported, name) === 'function', `has no ${name}`);
  }
}
