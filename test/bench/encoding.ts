import { create, fromJsonString, toBinary, toJsonString } from '@bufbuild/protobuf';
import { timestampFromDate, ValueSchema } from '@bufbuild/protobuf/wkt';
import { type SlotRow, sequenceText, toSlot } from '../../services/slot-service/slots/slot.ts';
import { GetSlotsResponseSchema } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { mapped } from '../../shared/rpc/answers/answer.ts';
import { AnswerResponse } from '../../shared/rpc/answers/answer-response.ts';
import { jsonWriteOptions } from '../../shared/rpc/answers/encoding.ts';
import { median } from './median.ts';

// npm run bench:encoding: how long GetSlots takes to encode 1,000 slots, from the fields that its handler returns and,
// for comparison, by messages of protobuf-es.

const rows = Array.from({ length: 1_000 }, (_, index): SlotRow => {
  const utc = new Date(Date.UTC(2030, 0, 1) + index * 1_800_000).toISOString().slice(0, 19);
  const time = `"${utc}"`;
  return {
    ...{ id: index + 1, deliveryTime: time, freezeTime: time, isActive: true, isCapacityFull: false },
    ...{ groupIds: [index % 7, index % 5], deliverySequence: '{"101": [1, 2, 3]}', etag: String(index) },
  };
});
const count = rows.length;

const answer = () => new AnswerResponse(GetSlotsResponseSchema, { slots: mapped(rows, toSlot), count });
const message = () =>
  create(GetSlotsResponseSchema, {
    slots: rows.map((row) => ({
      ...row,
      deliveryTime: timestampFromDate(new Date(`${JSON.parse(row.deliveryTime)}Z`)),
      freezeTime: timestampFromDate(new Date(`${JSON.parse(row.freezeTime)}Z`)),
      deliverySequence: fromJsonString(ValueSchema, sequenceText(row)),
    })),
    count,
  });
const encodings: Record<string, () => unknown> = {
  'binary, from fields': () => answer().toBinary({}),
  'binary, by messages': () => toBinary(GetSlotsResponseSchema, message()),
  'JSON, from fields': () => answer().toJson({}),
  'JSON, by messages': () => Buffer.from(toJsonString(GetSlotsResponseSchema, message(), jsonWriteOptions)),
};

const times = new Map(Object.keys(encodings).map((name) => [name, [] as number[]]));
for (let round = 0; round < 300; round += 1) {
  for (const [name, encode] of Object.entries(encodings)) {
    const begin = performance.now();
    await encode();
    // The first rounds compile.
    if (round >= 100) times.get(name)?.push(performance.now() - begin);
  }
}
for (const [name, took] of times) console.log(`${name}: ${median(took).toFixed(2)} ms`);
