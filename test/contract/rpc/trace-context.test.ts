import { expect, it } from 'vitest';
import { slotContract } from '../../support/contract.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';

slotContract('The line of a call', (api) => {
  const traceOf = async (traceparent: string | undefined) => {
    await api.staff.getSlots({}, traceparent === undefined ? {} : { headers: { traceparent } });
    return api.log.findLast(({ msg }) => msg === 'call')?.traceId;
  };

  it("names the caller's trace", async () => {
    expect(await traceOf(`00-${traceId}-${parent}-01`)).toBe(traceId);
    expect(await traceOf(`00-${traceId}-${parent}-00`)).toBe(traceId);
    // A later version may say more.
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
  ])('names none for the traceparent %s', async (traceparent) => {
    expect(await traceOf(traceparent)).toBeUndefined();
  });
});
