import { create, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { compileRuleShortcut } from '../../shared/rpc/interceptors/rule-shortcut.ts';

const protovalidate = createValidator();
const requests = [SlotService, SlotStoreService, CouponService].flatMap(({ methods }) =>
  methods.map(({ input }) => input),
);

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
      return field.message.file.proto.package === 'google.protobuf'
        ? fc.constant(undefined)
        : fc.option(messageOf(field.message), { nil: undefined });
    case 'list': {
      const item: fc.Arbitrary<unknown> = field.listKind === 'message' ? messageOf(field.message) : int32;
      return fc.array(item, { maxLength: 3 });
    }
    case 'scalar': {
      const kind = scalars.get(field.scalar) ?? fc.constant(undefined);
      const isOptional = Reflect.get(create(field.parent), field.localName) === undefined;
      return isOptional ? fc.option(kind, { nil: undefined }) : kind;
    }
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

describe('The quick look at the bounds of a request', () => {
  const compiled = requests.map((schema) => ({ schema, bounds: compileRuleShortcut(schema) }));

  it.each(compiled.filter(({ bounds }) => bounds !== undefined))(
    'lets nothing pass that protovalidate refuses: $schema.typeName',
    ({ schema, bounds }) => {
      fc.assert(
        fc.property(messageOf(schema), (message) => {
          if (bounds?.(message)) expect(protovalidate.validate(schema, message).kind).toBe('valid');
        }),
        { numRuns: 300 },
      );
    },
  );

  it('is there for all requests but those with a rule in CEL', () => {
    const without = compiled.filter(({ bounds }) => bounds === undefined).map(({ schema }) => schema.typeName);
    expect(without.sort()).toEqual([
      'coupon.v1.CreateCouponRequest',
      'coupon.v1.CreateRequest',
      'coupon.v1.CreateReservedCouponRequest',
      'coupon.v1.GetAllRequest',
      'coupon.v1.GetReservedCouponsRequest',
      'coupon.v1.UpdateRequest',
    ]);
  });

  it('lets an ordinary request pass', () => {
    const { method } = CouponService;
    const bounds = compileRuleShortcut(method.validate.input);
    expect(bounds?.(create(method.validate.input, { code: 'WELCOME10', userId: 1, orderAmount: 10 }))).toBe(true);
    expect(bounds?.(create(method.validate.input, { code: 'A\0', userId: 1, orderAmount: 10 }))).toBe(false);
  });
});
