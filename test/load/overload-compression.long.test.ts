import { type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { post } from '../support/post.ts';
import { signToken } from '../support/tokens.ts';
import { garbageMiB, insertLargeSequence, targetOf, toMiB } from './overload-stage.ts';
import { grpcFrame } from './overload-wire.ts';

const callers = 200;
const frameHeadBytes = 5;

interface Answer {
  readonly encoding: string;
  readonly body: Buffer;
}

describe('Large responses with compression', () => {
  const target = targetOf();
  let plainBytes: number;
  beforeAll(async () => {
    await insertLargeSequence(target(), { users: 36, products: 2_000 });
    plainBytes = (await askPlainly()).body.length;
    expect(plainBytes).toBeGreaterThan(400_000);
  });

  async function ask(headers: Record<string, string>, body: Buffer): Promise<Answer> {
    const asking = request({
      port: target().webPort,
      path: '/slot.v1.SlotService/GetDeliverySequence',
      method: 'POST',
      headers: { authorization: `Bearer ${target().token}`, ...headers },
    });
    asking.end(body);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      asking.once('response', resolve).once('error', reject);
    });
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk);
    const encoding = answer.headers['content-encoding'] ?? answer.headers['grpc-encoding'] ?? 'identity';
    return { encoding: String(encoding), body: Buffer.concat(chunks) };
  }

  const json = { 'content-type': 'application/json' };
  const slotOne = Buffer.from('{"id":"1"}');
  const askPlainly = () => ask(json, slotOne);
  const askOverConnect = () => ask({ ...json, 'accept-encoding': 'br, gzip' }, slotOne);
  const askOverGrpcWeb = () =>
    ask({ 'content-type': 'application/grpc-web+json', 'grpc-accept-encoding': 'br, gzip' }, grpcFrame(slotOne));

  it('A large response is compressed by gzip, never by brotli', async () => {
    expect((await askOverConnect()).encoding).toBe('gzip');
    expect((await askOverGrpcWeb()).encoding).toBe('gzip');
    expect((await ask({ ...json, 'accept-encoding': 'br' }, slotOne)).encoding).toBe('identity');
  });

  it('A response over Connect is sent uncompressed while too much is being compressed', async () => {
    await target().measureGrowth();
    const answers = await Promise.all(Array.from({ length: callers }, askOverConnect));
    expect(new Set(answers.map(({ encoding }) => encoding))).toEqual(new Set(['gzip', 'identity']));
    for (const { encoding, body } of answers) {
      expect(encoding === 'gzip' ? gunzipSync(body).length : body.length).toBe(plainBytes);
    }
    expect(await target().grown()).toBeLessThan(toMiB(callers * plainBytes) + garbageMiB);
  });

  it('A response over gRPC-Web is sent as stored gzip while too much is being compressed', async () => {
    const answers = await Promise.all(Array.from({ length: callers }, askOverGrpcWeb));
    const sizes = answers.map(({ body }) => body.readUInt32BE(1));
    expect(sizes.filter((size) => size > plainBytes)).not.toHaveLength(0);
    expect(sizes.filter((size) => size < plainBytes / 2)).not.toHaveLength(0);
    for (const { body } of answers) {
      const message = body.subarray(frameHeadBytes, frameHeadBytes + body.readUInt32BE(1));
      expect(gunzipSync(message).length).toBe(plainBytes);
    }
  });

  it('A small call is answered, and its token verified, while clients ask for large responses again and again', async () => {
    let isAnswered = false;
    const asking = Array.from({ length: callers }, async () => {
      while (!isAnswered) await askOverConnect();
    });
    await askOverConnect();
    const stranger = await signToken({ staffId: 1, subject: 'a stranger' });
    const small = await post(target().webPort, 'GetSlotsProductIds', stranger, '{"slotIds":[1]}');
    isAnswered = true;
    expect(small.status).toBe(200);
    await Promise.all(asking);
  });
});
