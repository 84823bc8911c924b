import { readFileSync } from 'node:fs';
import { create, toJson } from '@bufbuild/protobuf';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { isMutation, procedurePath } from '../../../shared/rpc/procedure.ts';
import { procedures, recordsForCalls } from '../../support/calls.ts';
import { runService } from '../../support/running-service.ts';

describe.each(['slot', 'coupon'] as const)('The OpenAPI document of %s-service', (name) => {
  const service = runService(name);
  beforeAll(() => service.sql(recordsForCalls));

  const document = JSON.parse(readFileSync(`shared/gen/openapi/${name}-service.json`, 'utf8'));
  const unary = procedures[name].filter(({ method }) => method.methodKind === 'unary');
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', ...document });
  const schemaOf = (typeName: string) => ajv.compile({ $ref: `document#/components/schemas/${typeName}` });

  it('is valid', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  });

  it('is served without a credential, also to pages that may call, and compressed', async () => {
    const get = (headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${service.webPort}/openapi.json`, {
        headers: { origin: 'http://allowed.example', ...headers },
      });
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('http://allowed.example');
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.json()).toEqual(document);
    expect(await (await get({ 'accept-encoding': 'identity' })).json()).toEqual(document);
  });

  it('has each unary procedure, with the key of a mutation', () => {
    expect(Object.keys(document.paths).sort()).toEqual(unary.map(({ method }) => procedurePath(method)).sort());
    const withKey = Object.entries<{ post: { parameters?: unknown } }>(document.paths)
      .filter(([, { post }]) => post.parameters !== undefined)
      .map(([path]) => path)
      .sort();
    const mutations = unary.filter(({ method }) => isMutation(method));
    expect(withKey).toEqual(mutations.map(({ method }) => procedurePath(method)).sort());
  });

  let n = 10;
  it.each(unary)('has a schema that fits an answer of $name', async ({ method, succeeds }) => {
    const answer = toJson(method.output, await succeeds(service.as({ staffId: 1 }), ++n), { alwaysEmitImplicit: true });
    const validate = schemaOf(method.output.typeName);
    expect(validate(answer), JSON.stringify(validate.errors)).toBe(true);
    expect(schemaOf(method.input.typeName)(toJson(method.input, create(method.input)))).toBeTypeOf('boolean');
  });

  it('has bounds, required fields and comments of the .proto files', () => {
    const schema = name === 'slot' ? 'slot.v1.UpdateSlotsRequest' : 'coupon.v1.RedeemRequest';
    const { properties } = document.components.schemas[schema];
    if (name === 'slot') expect(properties.slots).toMatchObject({ minItems: 1, maxItems: 500 });
    else {
      expect(properties.orderKey).toMatchObject({ minLength: 1, maxLength: 128, pattern: '^[!-~]*$' });
      expect(properties.holdSeconds).toMatchObject({
        minimum: 0,
        maximum: 86_400,
        description: expect.stringContaining('900 when absent'),
      });
    }
  });
});
