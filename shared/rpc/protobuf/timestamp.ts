import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { FieldWriter } from './field-writer.ts';

const fields = TimestampSchema.field;

/** Writes a `google.protobuf.Timestamp`. */
export function writeTimestamp(writer: FieldWriter, field: number, milliseconds: number): void {
  const seconds = Math.floor(milliseconds / 1000);
  const nanos = (milliseconds - seconds * 1000) * 1_000_000;
  writer.message(field, () => {
    writer.int64(fields.seconds.number, seconds);
    if (nanos > 0) writer.int32(fields.nanos.number, nanos);
  });
}

/** A time as protobuf's JSON form has it: without a fraction of zero. */
export function timestampToJson(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z');
}
