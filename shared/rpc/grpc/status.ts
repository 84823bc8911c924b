import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import type { ConnectError } from '@connectrpc/connect';
import { StatusSchema } from '../../gen/google/rpc/status_pb.ts';

/** Encodes an error as the `google.rpc.Status` of the trailer `grpc-status-details-bin`. */
export function encodeStatus(error: ConnectError): Buffer {
  const details = error.details.flatMap((detail) =>
    'desc' in detail ? [anyPack(detail.desc, create(detail.desc, detail.value))] : [],
  );
  const status = create(StatusSchema, { code: error.code, message: error.rawMessage, details });
  return Buffer.from(toBinary(StatusSchema, status));
}
