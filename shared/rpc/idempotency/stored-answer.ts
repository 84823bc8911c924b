import { type DescMessage, fromBinary, toJsonString } from '@bufbuild/protobuf';
import { EncodedResponse, jsonWriteOptions } from '../protobuf/encoding.ts';

/** An answer as it is stored for its key. The first call gets it in this form, too: a replay is the same, byte for byte. */
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
