import { gzipSync } from 'node:zlib';
import { createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { expectInvalidField, slotContract } from '../../support/contract.ts';
import { cannot, protocols } from '../../support/protocols.ts';
import { enveloped } from '../../support/raw-calls.ts';
import { runService } from '../../support/running-service.ts';
import { bearer } from '../../support/tokens.ts';

const tooMany = 'The request has more than 120000 values';
const tooDeep = 'The JSON is nested deeper than 100 levels';

const deep = `{"id":1,"deliverySequence":${'['.repeat(1_500_000)}${']'.repeat(1_500_000)}}`;
const deepUnknown = `{"nonsense":${'{"a":'.repeat(500_000)}1${'}'.repeat(500_000)}}`;
const wide = `{"id":1,"deliverySequence":[${'{},'.repeat(1_000_000)}1]}`;

/** A length-delimited field of the binary form. */
function field(number: number, content: Uint8Array): Buffer {
  const size: number[] = [];
  for (let rest = content.length; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      size.push(rest);
      break;
    }
    size.push((rest % 128) | 128);
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...size]), content]);
}

// A list value of a million empty values, and two million empty snippets.
const manyValues = Buffer.concat([
  Buffer.from([8, 1]),
  field(2, field(6, Buffer.alloc(2_000_000, Buffer.from([10, 0])))),
]);
const manySnippets = Buffer.alloc(4_000_000, Buffer.from([(5 << 3) | 2, 0]));

// Messages that a reader of the wire types reads differently from the decoder, which goes by the field types.
const hidden = field(2, field(6, Buffer.alloc(2_000_000, Buffer.from([10, 0]))));
const disguised: [string, Buffer][] = [
  ['an id that ends a group', Buffer.concat([Buffer.from([0x0c, 1]), hidden])],
  ['an id that is text', Buffer.concat([field(1, Buffer.alloc(0)), field(1, hidden)])],
  ['a list of integers without an end', Buffer.concat([field(1, Buffer.from([0x80])), hidden])],
  [
    'a group',
    Buffer.concat([Buffer.from([0x7b]), Buffer.alloc(2_000_000, Buffer.from([0x78, 0])), Buffer.from([0x7c])]),
  ],
];

describe('A request that would take long to decode', () => {
  const service = runService('slot');

  const send = async (path: string, body: Uint8Array | string | undefined, headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${service.webPort}/slot.v1.${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...(await bearer()), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return text.includes('grpc-message') ? decodeURIComponent(text.replace(/^[^\n]*?grpc/, 'grpc')) : text;
  };
  const update = 'SlotService/UpdateDeliverySequence';
  const json = { 'content-type': 'application/json' };
  const proto = { 'content-type': 'application/proto' };
  const gzip = { 'content-encoding': 'gzip' };
  const getUrl = (encoding: string, message: Uint8Array) =>
    `SlotService/GetSlotsProductIds?connect=v1&encoding=${encoding}&base64=1&compression=gzip&message=${gzipSync(message).toString('base64url')}`;

  const watch = 'SlotStoreService/WatchStore';
  const stream = { 'content-type': 'application/connect+json' };
  const gzipStream = { ...stream, 'connect-content-encoding': 'gzip' };
  const grpcWeb = (form: string) => ({ 'content-type': `application/grpc-web+${form}` });
  const bytes = (text: string) => enveloped(Buffer.from(text));
  const unknownFields = Buffer.alloc(3_000_000, Buffer.from([(9 << 3) | 0, 1]));

  it.each([
    ['deep JSON', update, deep, json, tooDeep],
    ['deep JSON in a field that is not known', 'SlotService/GetSlots', deepUnknown, json, tooDeep],
    ['much JSON', update, wide, json, tooMany],
    ['deep JSON, compressed', update, gzipSync(deep), { ...json, ...gzip }, tooDeep],
    ['much JSON, compressed', update, gzipSync(wide), { ...json, ...gzip }, tooMany],
    ['deep JSON by GET, compressed', getUrl('json', Buffer.from(deepUnknown)), undefined, {}, tooDeep],
    ['deep JSON of a stream', watch, bytes(deepUnknown), stream, tooDeep],
    ['deep JSON of a stream, compressed', watch, enveloped(gzipSync(deepUnknown), 1), gzipStream, tooDeep],
    ['deep JSON over gRPC-Web', update, bytes(deep), grpcWeb('json'), tooDeep],
    ['much JSON over gRPC-Web', update, bytes(wide), grpcWeb('json'), tooMany],
    ['many values', update, manyValues, proto, tooMany],
    ['four million ids', 'SlotStoreService/GetProductSlots', field(1, Buffer.alloc(4_000_000, 7)), proto, tooMany],
    ['many messages', 'SlotService/CreateSlot', manySnippets, proto, tooMany],
    ['many messages, compressed', 'SlotService/CreateSlot', gzipSync(manySnippets), { ...proto, ...gzip }, tooMany],
    ['many values over gRPC-Web', update, enveloped(manyValues), grpcWeb('proto'), tooMany],
    ['many unknown fields by GET, compressed', getUrl('proto', unknownFields), undefined, {}, tooMany],
  ])(
    'A request that would take long to decode is refused: %s',
    async (_kind, path, body, headers: Record<string, string>, message) => {
      expect(await send(path, body, headers)).toContain(message);
    },
  );

  it.each(disguised)('A malformed request that hides its size is refused: %s', async (_kind, body) => {
    const path = body[0] === 0x0a && body[1] === 1 ? 'SlotStoreService/GetProductSlots' : update;
    expect(await send(path, body, proto)).toMatch(/The request is no slot\.v1\.\w+/);
  });

  it.each([
    ['an empty message before it', [enveloped(Buffer.alloc(0)), enveloped(manyValues)]],
    ['another one after it', [enveloped(Buffer.from([8, 1])), enveloped(manyValues)]],
    ['one that is compressed before it', [enveloped(gzipSync(Buffer.from([8, 1])), 1), enveloped(manyValues)]],
    ['so much after it that both are too large', [enveloped(manyValues), enveloped(Buffer.alloc(3_000_000))]],
  ])('A gRPC-Web request of many values is refused with %s', async (_kind, messages) => {
    const headers = { 'content-type': 'application/grpc-web+proto', 'grpc-encoding': 'gzip' };
    const answer = await send(update, Buffer.concat(messages), headers);
    expect(answer).toMatch(/A request without exactly one message is not implemented|The message is larger than 4 MiB/);
  });

  it('A request with as many values as allowed is taken', async () => {
    const values = `{"id":1,"deliverySequence":[${'"a,[{:",'.repeat(119_000)}1]}`;
    expect(await send(update, values, json)).toContain('Access denied');
    const nested = `{"id":1,"deliverySequence":${'['.repeat(32)}"\\"[["${']'.repeat(32)}}`;
    expect(await send(update, nested, json)).toContain('Access denied');
  });
});

slotContract.over(protocols)('A request with a list of ids', (api) => {
  const stores = () => createClient(SlotStoreService, api.transportAs('guest'));

  it('A list of ids is taken as a set, however often an id is repeated', async () => {
    const isShort = cannot(api.protocol, 'send a query of more than 64 KiB');
    // As JSON, where integers are not packed, a request has at most 120,000 values.
    const length = isShort ? 1_000 : api.protocol.name === 'Connect' ? 110_000 : 500_000;
    const productIds = Array.from({ length }, () => 7);
    const { slots } = await stores().getProductSlots({ productIds });
    expect(Object.keys(slots)).toEqual(['7']);
    const { added } = await api.staff.updateSlotProducts({ slotId: 4711, productIds });
    expect(added).toBe(1);
  });

  it('GetProductSlots has an entry for each of 1,000 products', async () => {
    const productIds = Array.from({ length: 1_000 }, (_, at) => at + 1);
    const { slots } = await stores().getProductSlots({ productIds: [...productIds, 1, 2, 3] });
    expect(Object.keys(slots)).toHaveLength(1_000);
  });

  it.skipIf(cannot(api.protocol, 'send a query of more than 64 KiB'))(
    'A request with more distinct ids than its procedure takes is refused',
    async () => {
      const ids = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
      await expectInvalidField(stores().getProductSlots({ productIds: ids(1_001) }), 'product_ids');
      await expectInvalidField(api.staff.getSlotsProductIds({ slotIds: ids(100_001) }), 'slot_ids');
      await expectInvalidField(api.staff.updateSlotProducts({ slotId: 1, productIds: ids(100_001) }), 'product_ids');
    },
  );
});
