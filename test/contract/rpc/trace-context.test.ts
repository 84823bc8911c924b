import { expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';
import { protocols } from '../../support/protocols.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';

slotContract.over(protocols)('The trace context', (api) => {
  const traceOf = async (traceparent: string | undefined) => {
    await api.staff.getSlots({}, traceparent === undefined ? {} : { headers: { traceparent } });
    return api.log.findLast(({ msg }) => msg === 'call')?.traceId;
  };

  it("The log of a call has the id of the caller's trace", async () => {
    expect(await traceOf(`00-${traceId}-${parent}-01`)).toBe(traceId);
    expect(await traceOf(`00-${traceId}-${parent}-00`)).toBe(traceId);
    // A later version may have more fields.
    expect(await traceOf(`01-${traceId}-${parent}-01-more`)).toBe(traceId);
  });

  it.each([
    undefined,
    '',
    'nonsense',
    `ff-${traceId}-${parent}-01`,
    `00-${traceId}-${parent}-01-more`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${parent}-01`,
    `00-${traceId}-${parent}`,
  ])('The log of a call has no trace id for the traceparent %s', async (traceparent) => {
    expect(await traceOf(traceparent)).toBeUndefined();
  });
});
