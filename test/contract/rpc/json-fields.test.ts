import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../support/post.ts';
import { runService } from '../../support/running-service.ts';
import { signToken } from '../../support/tokens.ts';

describe('The fields of a request in JSON', () => {
  const services = { slot: runService('slot'), coupon: runService('coupon') };
  let token: string;
  beforeAll(async () => {
    token = await signToken({ staffId: 1 });
  });

  const send = async (
    method: string,
    body: string | Uint8Array,
    headers: Record<string, string> = {},
    name: 'slot' | 'coupon' = 'coupon',
  ) => {
    const typeName = name === 'slot' ? 'slot.v1.SlotService' : 'coupon.v1.CouponService';
    const response = await post(services[name].webPort, method, token, body, headers, typeName);
    const { code = 'ok', message = '', details = [] } = JSON.parse(await response.text());
    const badRequest = details.find(({ type }: { type: string }) => type === 'google.rpc.BadRequest');
    const violations: { field: string; description: string }[] = badRequest?.debug?.fieldViolations ?? [];
    return { code, message, fields: violations.map(({ field }) => field), violations };
  };

  it.each([
    [
      'the path of an unknown field',
      'Update',
      '{"id":1,"updates":{"discountPercent":50}}',
      'updates.discountPercent',
      'is not a field',
    ],
    [
      'the form of a list of ids',
      'Create',
      '{"coupon":{"discountPercent":10,"productIds":[1,2]}}',
      'coupon.productIds',
      'must have the form {"ids":[1,2]}',
    ],
    ['the type', 'Create', '{"coupon":{"isUserBased":1}}', 'coupon.isUserBased', 'expected boolean, got 1'],
    [
      'the range of a number',
      'GetAll',
      '{"limit":2147483648}',
      'limit',
      'expected number (int32): 2147483648 out of range',
    ],
    ['that an object is asked for', 'Create', '{"coupon":5}', 'coupon', 'is not an object'],
  ])('A request that is refused for a field names it, and %s', async (_kind, method, body, field, description) => {
    const { code, message, violations } = await send(method, body);
    expect({ code, message, violations }).toMatchObject({
      code: 'invalid_argument',
      message: `${field}: ${description}`,
      violations: [{ field, description }],
    });
  });

  it('A request names the item of a list that has an unknown field', async () => {
    const body = '{"vendorSnippets":[{"name":"a","productIds":[1]},{"products":[1]}]}';
    expect((await send('CreateSlot', body, {}, 'slot')).fields).toEqual(['vendorSnippets[1].products']);
  });

  it('A request with several unknown fields names each of them, and nothing else', async () => {
    expect((await send('GetAll', '{"a":1,"limit":5,"b":{"c":1}}')).fields).toEqual(['a', 'b']);
  });

  it('A request with a thousand unknown fields names twenty of them, and a name of a megabyte in part', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x${index}`, 1]));
    expect((await send('GetAll', JSON.stringify(many))).fields).toHaveLength(20);
    const { message } = await send('GetAll', JSON.stringify({ ['x'.repeat(1_000_000)]: 1 }));
    expect(message.length).toBeLessThan(300);
  });

  it('A request whose unknown field is ill-formed Unicode is refused like any other', async () => {
    expect((await send('GetAll', '{"\\ud800":1}')).code).toBe('invalid_argument');
  });

  it('A request without unknown fields is taken, also by the names of the .proto file', async () => {
    expect((await send('GetAll', '{"page_token":"","limit":1}')).code).toBe('ok');
  });

  it('Any JSON may stand in a delivery sequence', async () => {
    const slot = await post(
      services.slot.webPort,
      'CreateSlot',
      token,
      '{"deliveryTime":"2030-01-01","freezeTime":"2030-01-01"}',
    );
    const { id } = JSON.parse(await slot.text()).slot;
    const body = JSON.stringify({ id, deliverySequence: { nonsense: [{ validTil: null }] } });
    expect((await send('UpdateDeliverySequence', body, {}, 'slot')).code).toBe('ok');
  });

  it('A write with an unknown field writes nothing', async () => {
    await send('Create', '{"coupon":{"couponCode":"UNKNOWN","discountPercent":10,"validTil":"2030-01-01"}}');
    const [{ count } = {}] = await services.coupon.database.sql(
      `select count(*)::integer from coupons where coupon_code = 'UNKNOWN'`,
    );
    expect(count).toBe(0);
  });

  it('An unknown field is refused in a compressed request and by GET, too', async () => {
    const packed = await send('GetAll', gzipSync('{"nonsense":1}'), { 'content-encoding': 'gzip' });
    expect(packed).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('nonsense') });
    const url = `http://127.0.0.1:${services.coupon.webPort}/coupon.v1.CouponService/GetAll`;
    const query = new URLSearchParams({ connect: 'v1', encoding: 'json', message: '{"nonsense":1}' });
    const response = await fetch(`${url}?${query}`, { headers: { authorization: `Bearer ${token}` } });
    expect(await response.json()).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('nonsense'),
    });
  });

  it('An unknown field in binary form is ignored, as protobuf does', async () => {
    const response = await post(
      services.coupon.webPort,
      'GetAll',
      token,
      new Uint8Array([0xf8, 0x07, 0x01]),
      { 'content-type': 'application/proto' },
      'coupon.v1.CouponService',
    );
    expect(response.status).toBe(200);
  });
});
