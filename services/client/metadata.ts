import { Code, ConnectError, decodeBinaryHeader, encodeBinaryHeader } from '@connectrpc/connect';
import { Metadata } from '@grpc/grpc-js';

/**
 * Converts headers to gRPC metadata. As in Connect, the value of a header whose name ends in `-bin` is base64.
 *
 * @throws ConnectError INVALID_ARGUMENT for a header that gRPC can't carry; its message does not quote the value.
 */
export function toMetadata(headers: Headers): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of headers) {
    try {
      if (!name.endsWith('-bin')) metadata.add(name, value);
      else for (const item of value.split(',')) metadata.add(name, Buffer.from(decodeBinaryHeader(item.trim())));
    } catch {
      throw new ConnectError(`the header ${name} has a value that gRPC can't carry`, Code.InvalidArgument);
    }
  }
  return metadata;
}

/** Adds gRPC metadata to headers; binary values become base64. */
export function addMetadata(headers: Headers, metadata: Metadata): void {
  for (const name of Object.keys(metadata.getMap())) {
    for (const value of metadata.get(name)) {
      headers.append(name, typeof value === 'string' ? value : encodeBinaryHeader(value));
    }
  }
}
