import { fromJsonString } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { read } from '../support/repository.ts';

const rowPattern = /^\| (slot|coupon) (\w+) \| (input|output) \| `([^`]+)` \| `([^`]+)` \| /gm;
const rows = [...read('docs/specification.md').matchAll(rowPattern)];

describe('The differences of our JSON from the objects of the specification', () => {
  it('The page has a row for each kind of difference', () => {
    expect(rows.length).toBeGreaterThan(10);
  });

  const cells = rows.map(([, service = '', name = '', side = '', specified = '', ours = '']) => {
    return [service, name, ours, specified, side] as const;
  });

  it.each(cells)('%s %s takes %s, and not %s, as its %s', (service, name, ours, specified, side) => {
    const { methods } = service === 'slot' ? SlotService : CouponService;
    const method = methods.find((each) => each.name === name);
    const schema = side === 'input' ? method?.input : method?.output;
    if (schema === undefined) throw new Error(`there is no ${name}`);
    expect(() => fromJsonString(schema, ours)).not.toThrow();
    expect(() => fromJsonString(schema, specified)).toThrow();
  });
});
