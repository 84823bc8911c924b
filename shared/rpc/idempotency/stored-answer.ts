import { type DescMessage, fromBinary, toJsonString } from '@bufbuild/protobuf';
import { EncodedResponse, jsonWriteOptions } from '../answers/encoding.ts';

/**
 * An answer as stored for its key. The first call returns it in this form too, so that a replay
 * is identical byte for byte.
 */
export class StoredAnswer extends EncodedResponse {
  readonly bytes: Buffer;

  constructor(schema: DescMessage, bytes: Buffer) {
    super(schema);
    this.bytes = bytes;
  }

  async toBinary(): Promise<Buffer> {
    return this.bytes;
  }

  async toJson(): Promise<string> {
    return toJsonString(this.schema, fromBinary(this.schema, this.bytes), jsonWriteOptions);
  }
}
