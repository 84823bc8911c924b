import { create, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CatalogService } from '../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { compilePlainRules } from '../../shared/rpc/interceptors/plain-rules.ts';

const protovalidate = createValidator();
const services = [
  SlotService,
  SlotStoreService,
  SlotPlanService,
  CatalogService,
  CouponService,
  RedemptionService,
  CouponBatchService,
];
const requests = services.flatMap(({ methods }) => methods.map(({ input }) => input));

const numbers = fc.oneof(fc.constantFrom(-1, 0, 1, 50, 51, Number.NaN, Number.POSITIVE_INFINITY), fc.double());
const int32 = fc.oneof(fc.constantFrom(-1, 0, 1, 50, 51), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
const text = fc.oneof(
  fc.constantFrom('', '\0', 'a\0', '😀', 'a'.repeat(128), '😀'.repeat(128), '😀'.repeat(129), 'a'.repeat(2001)),
  fc.string({ maxLength: 20 }),
);

const scalars = new Map<ScalarType, fc.Arbitrary<unknown>>([
  [ScalarType.INT32, int32],
  [ScalarType.DOUBLE, numbers],
  [ScalarType.STRING, text],
  [ScalarType.BOOL, fc.boolean()],
]);

/** Values that a field may have, at its bounds more often than not. */
function valuesOf(field: DescField): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case 'message':
      return fc.option(
        field.message.file.proto.package === 'google.protobuf'
          ? fc.constant(create(field.message))
          : messageOf(field.message),
        { nil: undefined },
      );
    case 'list': {
      const item: fc.Arbitrary<unknown> = field.listKind === 'message' ? messageOf(field.message) : int32;
      return fc.array(item, { maxLength: 3 });
    }
    case 'scalar': {
      const kind = scalars.get(field.scalar) ?? fc.constant(undefined);
      const isOptional = Reflect.get(create(field.parent), field.localName) === undefined;
      return isOptional ? fc.option(kind, { nil: undefined }) : kind;
    }
    case 'enum':
      return fc.integer({ min: -1, max: 4 });
    default:
      return fc.constant(undefined);
  }
}

function messageOf(schema: DescMessage): fc.Arbitrary<Message> {
  const fields = Object.fromEntries(schema.fields.map((field) => [field.localName, valuesOf(field)]));
  return fc.record(fields).map((values) => {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    return Object.assign(create(schema), Object.fromEntries(given));
  });
}

describe('The compiled rules of requests', () => {
  const compiled = requests.map((schema) => ({ schema, isPlainlyValid: compilePlainRules(schema) }));

  it.each(compiled)('The compiled rules of $schema.typeName pass nothing that protovalidate refuses', (rules) => {
    fc.assert(
      fc.property(messageOf(rules.schema), (message) => {
        if (rules.isPlainlyValid(message)) expect(protovalidate.validate(rules.schema, message).kind).toBe('valid');
      }),
      { numRuns: 300 },
    );
  });

  it('The compiled rules pass some requests of each message but those that always have a rule in CEL or of a oneof', () => {
    const passing = compiled.filter(({ schema, isPlainlyValid }) =>
      fc.sample(messageOf(schema), { numRuns: 300, seed: 1 }).some(isPlainlyValid),
    );
    const others = requests.filter((schema) => !passing.some((each) => each.schema === schema));
    expect(others.map(({ typeName }) => typeName).sort()).toEqual([
      'coupon.v1.CreateBatchRequest',
      'coupon.v1.CreateCouponRequest',
      'coupon.v1.GetAllRequest',
      'coupon.v1.GetReservedCouponsRequest',
      'slot.v1.UpdateSlotsRequest',
    ]);
  });

  it.each([
    ['pass', { code: 'WELCOME10', userId: 1, orderAmount: 10 }, true],
    ['do not pass', { code: 'A\0', userId: 1, orderAmount: 10 }, false],
    ['do not pass', { code: 'WELCOME10', userId: 1, orderAmount: Number.NaN }, false],
  ])('The compiled rules of Validate %s %o', (_verb, fields, isValid) => {
    const schema = CouponService.method.validate.input;
    expect(compilePlainRules(schema)(create(schema, fields))).toBe(isValid);
  });
});
