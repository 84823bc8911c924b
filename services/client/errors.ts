import { fromBinary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Metadata, StatusObject } from '@grpc/grpc-js';
import { StatusSchema } from '../../shared/gen/google/rpc/status_pb.ts';
import { addMetadata } from './metadata.ts';

/** Converts a gRPC status other than OK to a `ConnectError` with its details and trailers (`metadata`). */
export function toConnectError({ code, details, metadata }: StatusObject): ConnectError {
  const error = new ConnectError(details, Code[code] === undefined ? Code.Unknown : Number(code));
  addMetadata(error.metadata, metadata);
  error.details = readDetails(metadata);
  return error;
}

function readDetails(metadata: Metadata): ConnectError['details'] {
  const [bytes] = metadata.get('grpc-status-details-bin');
  if (!Buffer.isBuffer(bytes)) return [];
  try {
    return fromBinary(StatusSchema, bytes).details.map(({ typeUrl, value }) => ({
      type: typeUrl.slice(typeUrl.lastIndexOf('/') + 1),
      value,
    }));
  } catch {
    // Malformed details must not hide the status.
    return [];
  }
}
