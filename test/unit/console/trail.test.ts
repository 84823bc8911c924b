import { expect, it } from 'vitest';
import { changedFields, describeValue } from '../../../services/staff-console/page/audit/fields.ts';
import { describeMutation, mutations } from '../../../services/staff-console/page/audit/trail/deeds.ts';
import { isMutation, procedureName } from '../../../shared/rpc/procedure.ts';
import { allServices } from '../../support/all-services.ts';

it('The audit trail knows all mutations of the contract', () => {
  const all = allServices.flatMap(({ methods }) => methods.filter(isMutation).map(procedureName));
  expect(mutations.toSorted()).toEqual(all.filter((name) => !/Watch/.test(name)).toSorted());
});

it.each(mutations)('The audit trail has words for %s', (procedure) => {
  expect(describeMutation(procedure)).not.toContain(procedure);
});

it('A change of a coupon’s start and uses is named as in its form, and the start is told as a time', () => {
  const [startsAt, maxUses] = ['2026-12-01T04:30:00Z', 500];
  const fields = changedFields({ before: { maxUses: null, startsAt: null }, after: { startsAt, maxUses } });
  expect(fields.map(({ label }) => label)).toEqual(['Starts', 'Usage limit']);
  const words = fields.map(({ name, after }) => describeValue(name, after, (at) => `at ${at.getUTCFullYear()}`));
  expect(words).toEqual(['at 2026', '500']);
});
