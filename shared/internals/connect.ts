import * as protocol from '@connectrpc/connect/protocol';
import * as protocolConnect from '@connectrpc/connect/protocol-connect';
import * as protocolGrpc from '@connectrpc/connect/protocol-grpc';
import * as protocolGrpcWeb from '@connectrpc/connect/protocol-grpc-web';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * What this project uses of Connect's subpaths `protocol*`, which serve Connect's own packages and may
 * change in any release. Our fast path for unary calls and our error responses read and write the
 * protocols themselves. The imports are namespaces, because a named import of a part
 * that is gone fails as a SyntaxError before any check can run.
 */
export const connect = new PinnedLibrary('@connectrpc/connect', '2.1.2');

export type { Compression, UniversalServerRequest, UniversalServerResponse } from '@connectrpc/connect/protocol';

export const { compressedFlag, encodeEnvelope, readAllBytes } = protocol;
export const { codeToHttpStatus, errorFromJsonBytes, errorToJsonBytes } = protocolConnect;
export const { endStreamFlag, endStreamFromJson, endStreamToJson } = protocolConnect;
export const { findTrailerError } = protocolGrpc;
export const { contentTypeProto, setTrailerStatus, trailerFlag, trailerParse, trailerSerialize } = protocolGrpcWeb;

const parts: Readonly<Record<string, unknown>> = {
  compressedFlag,
  encodeEnvelope,
  readAllBytes,
  codeToHttpStatus,
  errorFromJsonBytes,
  errorToJsonBytes,
  endStreamFlag,
  endStreamFromJson,
  endStreamToJson,
  findTrailerError,
  contentTypeProto,
  setTrailerStatus,
  trailerFlag,
  trailerParse,
  trailerSerialize,
};

/** Throws a `ConfigError` when Connect no longer exports one of the parts above. */
export function checkConnect(exported = parts): void {
  for (const name of Object.keys(parts)) connect.check(exported[name] !== undefined, `has no ${name}`);
}
