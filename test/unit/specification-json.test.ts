import { readFileSync } from 'node:fs';
import { fromJsonString } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';

const rowPattern = /^\| (slot|coupon) (\w+) \| (input|output) \| `([^`]+)` \| `([^`]+)` \| /gm;
const rows = [...readFileSync('docs/specification.md', 'utf8').matchAll(rowPattern)];

describe('The differences of our JSON from the objects of the specification', () => {
  it('The page has a row for each kind of difference', () => {
    expect(rows.length).toBeGreaterThan(10);
  });

  it.each(
    rows.map(([, service = '', name = '', side = '', specified = '', ours = '']) => ({
      service,
      name,
      side,
      specified,
      ours,
    })),
  )('$service $name takes $ours, and not $specified, as its $side', ({ service, name, side, specified, ours }) => {
    const { methods } = service === 'slot' ? SlotService : CouponService;
    const method = methods.find((each) => each.name === name);
    const schema = side === 'input' ? method?.input : method?.output;
    if (schema === undefined) throw new Error(`there is no ${name}`);
    expect(() => fromJsonString(schema, ours)).not.toThrow();
    expect(() => fromJsonString(schema, specified)).toThrow();
  });
});
