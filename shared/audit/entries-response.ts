import type { JsonValue } from '@bufbuild/protobuf';
import { StructSchema } from '@bufbuild/protobuf/wkt';
import { AuditEntrySchema, ListEntriesResponseSchema } from '../gen/audit/v1/audit_service_pb.ts';
import { type Encoding, encodeInBatches, TextWriter, writeSlices, writeTexts } from '../rpc/protobuf/batches.ts';
import { EncodedResponse } from '../rpc/protobuf/encoding.ts';
import { FieldWriter, mapKey, mapValue } from '../rpc/protobuf/field-writer.ts';
import { writeValue } from '../rpc/protobuf/json-value.ts';
import { timestampToJson, writeTimestamp } from '../rpc/protobuf/timestamp.ts';
import type { Batch, TurnTaker } from '../rpc/protobuf/turns.ts';

const response = ListEntriesResponseSchema.field;
const fields = AuditEntrySchema.field;
const structFields = StructSchema.field.fields.number;

/** An entry as PostgreSQL gives it. */
export interface EntryRow {
  id: string;
  at: Date;
  procedure: string;
  subject: string;
  staffId: number | null;
  requestId: string;
  resourceType: string;
  resourceId: number;
  /** JSON. */
  before: string | null;
  after: string;
  shownBytes: number;
}

/** The response of listEntries, encoded straight from the rows: a change may have 200,000 ids. */
export class EntriesResponse extends EncodedResponse<typeof ListEntriesResponseSchema> {
  readonly #rows: readonly EntryRow[];
  readonly #nextPageToken: string;

  constructor(rows: readonly EntryRow[], nextPageToken: string) {
    super(ListEntriesResponseSchema);
    this.#rows = rows;
    this.#nextPageToken = nextPageToken;
  }

  toBinary(caller: TurnTaker): Promise<Buffer> {
    return encodeInBatches(caller, (batch) => this.#encodeBinary(batch));
  }

  toJson(caller: TurnTaker): Promise<string> {
    return encodeInBatches(caller, (batch) => this.#encodeJson(batch));
  }

  *#encodeBinary(batch: Batch): Encoding<Buffer> {
    const writer = new FieldWriter();
    const write = (rows: readonly EntryRow[]) => {
      for (const row of rows) writer.message(response.entries.number, () => writeEntry(writer, row));
    };
    yield* writeSlices(batch, writer, this.#rows, write, unitsOf);
    return writer.string(response.nextPageToken.number, this.#nextPageToken).finish();
  }

  *#encodeJson(batch: Batch): Encoding<string> {
    const writer = new TextWriter().write('{"entries":[');
    yield* writeTexts(batch, writer, this.#rows, (rows) => rows.map(entryToJson).join(), unitsOf);
    return writer.write(`],"nextPageToken":${JSON.stringify(this.#nextPageToken)}}`).finish();
  }
}

const unitsOf = ({ shownBytes }: EntryRow) => 1 + shownBytes / 50;

function writeEntry(writer: FieldWriter, row: EntryRow): void {
  writer.int64(fields.id.number, Number(row.id));
  writeTimestamp(writer, fields.at.number, row.at.getTime());
  writer.string(fields.procedure.number, row.procedure).string(fields.subject.number, row.subject);
  if (row.staffId !== null) writer.int32(fields.staffId.number, row.staffId);
  writer.string(fields.requestId.number, row.requestId).string(fields.resourceType.number, row.resourceType);
  writer.int32(fields.resourceId.number, row.resourceId);
  if (row.before !== null) writeStruct(writer, fields.before.number, JSON.parse(row.before));
  writeStruct(writer, fields.after.number, JSON.parse(row.after));
}

function writeStruct(writer: FieldWriter, field: number, struct: Readonly<Record<string, JsonValue>>): void {
  writer.message(field, () => {
    for (const [name, value] of Object.entries(struct)) {
      writer.message(structFields, () => {
        writer.string(mapKey, name).message(mapValue, () => writeValue(writer, value));
      });
    }
  });
}

function entryToJson({ before, after, ...row }: EntryRow): string {
  const { id, procedure, subject, requestId, resourceType, resourceId } = row;
  const at = timestampToJson(row.at.getTime());
  const staffId = row.staffId ?? undefined;
  const own = JSON.stringify({ id, at, procedure, subject, staffId, requestId, resourceType, resourceId });
  return `${own.slice(0, -1)},${before === null ? '' : `"before":${before},`}"after":${after}}`;
}
