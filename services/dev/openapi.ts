import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
  ScalarType,
} from '@bufbuild/protobuf';
import { createEcmaScriptPlugin, getComments, runNodeJs } from '@bufbuild/protoplugin';
import { type FieldRules, field as fieldOption } from '../../shared/gen/buf/validate/validate_pb.ts';
import { isMutation, keyHeader, procedureName, procedurePath } from '../../shared/rpc/procedure.ts';

// A plugin of `buf generate`: writes the OpenAPI document of each service.

type Json = { readonly [name: string]: unknown };

/** The packages of each service's procedures. */
const packages = { 'slot-service': ['slot.v1', 'catalog.v1', 'audit.v1'], 'coupon-service': ['coupon.v1', 'audit.v1'] };

runNodeJs(
  createEcmaScriptPlugin({
    name: 'openapi',
    version: 'v1',
    generateTs({ files, generateFile }) {
      const all = files.flatMap(({ services }) => services);
      for (const [name, own] of Object.entries(packages)) {
        const services = all.filter((service) => own.includes(packageOf(service)));
        const document = describe(name, services);
        generateFile(`openapi/${name}.json`).print(JSON.stringify(document, null, 1));
      }
    },
  }),
);

function packageOf({ file }: DescService | DescMessage): string {
  return file.proto.package;
}

/** Returns the OpenAPI document of the unary procedures of services, as they are called with JSON. */
function describe(title: string, services: readonly DescService[]): Json {
  const methods = services.flatMap((service) => service.methods).filter(({ methodKind }) => methodKind === 'unary');
  const schemas = new Map<string, Json>();
  for (const { input, output } of methods) {
    collect(input, schemas);
    collect(output, schemas);
  }
  return {
    openapi: '3.1.0',
    info: { title, version: 'v1', description: 'Procedures over Connect: a POST with JSON. Streams are left out.' },
    tags: services.map((service) => ({ name: service.typeName, description: commentOf(service) })),
    security: [{ token: [] }],
    paths: Object.fromEntries(methods.map((method) => [procedurePath(method), { post: operationOf(method) }])),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      parameters: { [keyHeader]: keyParameter },
      responses: { Error: { description: 'An error.', content: jsonOf({ $ref: '#/components/schemas/Error' }) } },
      schemas: { Error: errorSchema, ...Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) },
    },
  };
}

const keyParameter = {
  ...{ name: keyHeader, in: 'header', description: 'A repeat of the call with the same key gets the same answer.' },
  schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
};

const errorSchema = {
  type: 'object',
  description: 'https://connectrpc.com/docs/protocol#error-end-stream. The detail google.rpc.ErrorInfo has the reason.',
  properties: {
    code: { type: 'string', description: 'The gRPC code in lower case, such as invalid_argument.' },
    message: { type: 'string' },
    details: {
      type: 'array',
      items: {
        type: 'object',
        properties: { type: { type: 'string' }, value: { type: 'string' }, debug: { type: 'object' } },
      },
    },
  },
  required: ['code'],
};

const jsonOf = (schema: Json) => ({ 'application/json': { schema } });
const refOf = ({ typeName }: DescMessage | DescEnum) => ({ $ref: `#/components/schemas/${typeName}` });

function operationOf(method: DescMethod): Json {
  const description = commentOf(method);
  return {
    operationId: procedureName(method).replace('/', '.'),
    tags: [method.parent.typeName],
    summary: /^.*?\.(?=\s|$)/s.exec(description)?.[0] ?? description,
    description,
    ...(isMutation(method) ? { parameters: [{ $ref: `#/components/parameters/${keyHeader}` }] } : {}),
    requestBody: { required: true, content: jsonOf(refOf(method.input)) },
    responses: {
      200: { description: 'The answer.', content: jsonOf(refOf(method.output)) },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function commentOf(desc: DescService | DescMethod | DescMessage | DescField | DescEnum): string {
  return (getComments(desc).leading ?? '').replace(/^ /gm, '').trim();
}

/** Adds the schemas of a message and of all that it has. */
function collect(message: DescMessage, schemas: Map<string, Json>): void {
  if (schemas.has(message.typeName) || packageOf(message) === 'google.protobuf') return;
  schemas.set(message.typeName, {});
  for (const field of message.fields) {
    if (field.message !== undefined) collect(field.message, schemas);
    if (field.enum !== undefined) schemas.set(field.enum.typeName, enumSchema(field.enum));
  }
  const required = message.fields.filter((field) => rulesOf(field)?.required).map(({ jsonName }) => jsonName);
  schemas.set(message.typeName, {
    type: 'object',
    description: commentOf(message),
    properties: Object.fromEntries(message.fields.map((field) => [field.jsonName, fieldSchema(field)])),
    ...(required.length > 0 ? { required } : {}),
  });
}

const rulesOf = (field: DescField) => (hasOption(field, fieldOption) ? getOption(field, fieldOption) : undefined);

const enumSchema = (desc: DescEnum) => ({
  type: 'string',
  description: [
    commentOf(desc),
    ...desc.values.map((value) => `${value.name}: ${getComments(value).leading?.trim()}`),
  ].join('\n'),
  enum: desc.values.map(({ name }) => name),
});

function fieldSchema(field: DescField): Json {
  const rules = rulesOf(field);
  const description = commentOf(field);
  const repeated = rules?.type.case === 'repeated' ? rules.type.value : undefined;
  if (field.fieldKind === 'list') {
    const bounds = { minItems: toNumber(repeated?.minItems), maxItems: toNumber(repeated?.maxItems) };
    return { type: 'array', description, items: valueSchema(field, repeated?.items), ...bounds };
  }
  if (field.fieldKind === 'map')
    return { type: 'object', description, additionalProperties: valueSchema(field, undefined) };
  return { description, ...valueSchema(field, rules) };
}

const wellKnown = new Map<string, Json>([
  ['google.protobuf.Timestamp', { type: 'string', format: 'date-time' }],
  ['google.protobuf.Struct', { type: 'object' }],
  ['google.protobuf.Value', {}],
]);

function valueSchema(field: DescField, rules: FieldRules | undefined): Json {
  if (field.enum !== undefined) return refOf(field.enum);
  if (field.message !== undefined) return wellKnown.get(field.message.typeName) ?? refOf(field.message);
  const { scalar } = field;
  switch (scalar) {
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.STRING:
      return { type: 'string', ...stringBounds(rules) };
    case ScalarType.DOUBLE:
      return { type: 'number', format: 'double', ...doubleBounds(rules) };
    case ScalarType.INT32:
      return { type: 'integer', format: 'int32', ...integerBounds(rules) };
    case ScalarType.INT64:
      return { type: 'string', format: 'int64' };
  }
  throw new Error(`${field.name} has a type that the OpenAPI document does not know`);
}

function stringBounds(rules: FieldRules | undefined): Json {
  if (rules?.type.case !== 'string') return {};
  const { minLen, maxLen, pattern } = rules.type.value;
  return { minLength: toNumber(minLen), maxLength: toNumber(maxLen), pattern: pattern || undefined };
}

function doubleBounds(rules: FieldRules | undefined): Json {
  return rules?.type.case === 'double' && rules.type.value.greaterThan.case === 'gte'
    ? { minimum: rules.type.value.greaterThan.value }
    : {};
}

function integerBounds(rules: FieldRules | undefined): Json {
  if (rules?.type.case !== 'int32') return {};
  const { greaterThan, lessThan } = rules.type.value;
  return {
    ...(greaterThan.case === 'gte' ? { minimum: greaterThan.value } : {}),
    ...(greaterThan.case === 'gt' ? { exclusiveMinimum: greaterThan.value } : {}),
    ...(lessThan.case === 'lte' ? { maximum: lessThan.value } : {}),
    ...(lessThan.case === 'lt' ? { exclusiveMaximum: lessThan.value } : {}),
  };
}

/** Returns a bound; undefined for one that is not set. */
function toNumber(bound: bigint | undefined): number | undefined {
  return bound ? Number(bound) : undefined;
}
