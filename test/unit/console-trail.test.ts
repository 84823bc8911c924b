import { expect, it } from 'vitest';
import { describeMutation, mutations } from '../../services/staff-console/page/audit/trail/deeds.ts';
import { isMutation, procedureName } from '../../shared/rpc/procedure.ts';
import { allServices } from '../support/all-services.ts';

it('The audit trail knows all mutations of the contract', () => {
  const all = allServices.flatMap(({ methods }) => methods.filter(isMutation).map(procedureName));
  expect(mutations.toSorted()).toEqual(all.filter((name) => !/Watch/.test(name)).toSorted());
});

it.each(mutations)('The audit trail has words for %s', (procedure) => {
  expect(describeMutation(procedure)).not.toContain(procedure);
});
