import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { isTransient } from '../../../services/client/connect/errors.ts';
import { describeFailure } from '../../../services/staff-console/page/rpc/failure.ts';
import { fail, invalidRequest } from '../../../shared/errors/errors.ts';

const violations = (...fields: string[]) =>
  invalidRequest('wrong', { violations: fields.map((field) => ({ field, description: `${field} is wrong` })) });

describe('A failure, as the console tells it', () => {
  it('A problem of a field stands under the name that the field has in JSON', () => {
    const { fields } = describeFailure(violations('updates.coupon.discount_percent', 'limit'));
    expect(Object.keys(fields)).toEqual(['discountPercent', 'limit']);
  });

  it('A problem in a list stands under its place in the list', () => {
    const { fields } = describeFailure(violations('vendor_snippets[1].product_ids[0]'));
    expect(Object.keys(fields)).toEqual(['vendorSnippets[1].productIds']);
  });

  it('A rule that names no field stands at the field that it is about', () => {
    const row = { reason: 'COUPON_CODE_TAKEN', code: Code.AlreadyExists, message: 'Coupon code already exists' };
    expect(describeFailure(fail(row)).fields).toEqual({ couponCode: 'Coupon code already exists' });
  });

  it('The cause of a slot that was not updated stands in the place of the general message', () => {
    const metadata = { causeReason: 'SNIPPET_NAME_TAKEN', causeMessage: 'Snippet name "a" already exists' };
    const row = { reason: 'SLOT_NOT_UPDATED', code: Code.FailedPrecondition, message: 'Unable to Update Slot' };
    expect(describeFailure(fail(row, { metadata }))).toMatchObject({
      reason: 'SNIPPET_NAME_TAKEN',
      title: 'Snippet name "a" already exists',
      fields: { name: 'Snippet name "a" already exists' },
    });
  });

  it('Only what may succeed in a moment is tried again', () => {
    const unreachable = ConnectError.from(new TypeError('Failed to fetch'));
    const overloaded = fail({ reason: 'OVERLOADED', code: Code.ResourceExhausted, message: 'busy' });
    const tooLarge = fail({ reason: 'ANSWER_TOO_LARGE', code: Code.ResourceExhausted, message: 'large' });
    const errors = [unreachable, new ConnectError('away', Code.Unavailable), overloaded, tooLarge, violations('id')];
    expect(errors.map(isTransient)).toEqual([true, true, true, false, false]);
  });
});
