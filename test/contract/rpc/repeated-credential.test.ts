import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { post } from '../../support/post.ts';
import { ways } from '../../support/raw-calls.ts';
import { runService } from '../../support/running-service.ts';
import { signToken } from '../../support/tokens.ts';

describe.each(ways)('Over $name', (way) => {
  const service = runService('slot');

  it.each<[kind: string, values: (good: string) => readonly string[]]>([
    ['two headers with the same credential', (one) => [one, one]],
    ['two headers, of which the first is good', (one) => [one, 'Bearer x.y.z']],
    ['two headers, of which the second is good', (one) => ['Bearer x.y.z', one]],
    ['three headers', (one) => [one, one, one]],
    ['two headers, of which the first is empty', (one) => ['', one]],
    ['two headers, of which the second is empty', (one) => [one, '']],
    ['two credentials in one header', (one) => [`${one}, ${one}`]],
    ['two credentials in one header, without a blank', (one) => [`${one},${one}`]],
  ])('A request with %s is UNAUTHENTICATED, also where the credential is known', async (_kind, values) => {
    const token = await signToken({ staffId: 1 });
    expect((await post(service.webPort, 'GetSlots', token)).status).toBe(200);
    const good = `Bearer ${token}`;
    const headers = (...given: readonly string[]) => given.map((value) => ['authorization', value] as const);
    const isGzips = way.name === 'a stream of Connect' || way.name.startsWith('gRPC') ? [false] : [false, true];
    for (const isGzip of isGzips) {
      const message = isGzip ? gzipSync('') : Buffer.alloc(0);
      const answer = await way.send(service, way.call(message, headers(...values(good)), isGzip));
      expect(answer.error).toMatchObject({
        code: 'UNAUTHENTICATED',
        message: 'Authentication required',
        info: { reason: 'AUTHENTICATION_REQUIRED' },
      });
    }
  });
});
