import path from 'node:path';
import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { GetOpenSlotsResponseSchema } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { jsonWriteOptions } from '../../shared/rpc/answers/response.ts';
import { root } from './calls-stage.ts';
import { median } from './median.ts';

// npm run bench:encoding: how long it takes to encode 1,000 open slots, from the fields that the handler returns and,
// for comparison, by messages of protobuf-es.

// As built, because tsx wraps each function. test/unit/architecture.test.ts holds the names to the types.
const built = (file: string) => import(path.join(root, 'dist', file));
const { AnswerResponse }: typeof import('../../shared/rpc/answers/response.ts') = await built(
  'shared/rpc/answers/response.js',
);
const { toOpenSlots }: typeof import('../../services/slot-service/stores/response-cache.ts') = await built(
  'services/slot-service/stores/response-cache.js',
);

const rows = Array.from({ length: 1_000 }, (_, id) => {
  const deliveryMs = Date.UTC(2030, 0, 1) + id * 1_800_000;
  return { id, deliveryMs, freezeMs: deliveryMs - 3_600_000, productIds: [id, id + 1, id + 2] };
});

const answer = () => new AnswerResponse(GetOpenSlotsResponseSchema, { slots: toOpenSlots(rows), version: 1 });
const message = () =>
  create(GetOpenSlotsResponseSchema, {
    slots: rows.map(({ deliveryMs, freezeMs, ...slot }) => ({
      ...slot,
      deliveryTime: timestampFromMs(deliveryMs),
      freezeTime: timestampFromMs(freezeMs),
    })),
    version: 1,
  });
const encodings: Record<string, () => unknown> = {
  'binary, from fields': () => answer().toBinary(undefined),
  'binary, by messages': () => toBinary(GetOpenSlotsResponseSchema, message()),
  'JSON, from fields': () => answer().toJson(undefined),
  'JSON, by messages': () => Buffer.from(toJsonString(GetOpenSlotsResponseSchema, message(), jsonWriteOptions)),
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
