import { expect, it } from 'vitest';
import { describeMutation, mutations } from '../../services/staff-console/page/audit/trail/deeds.ts';

it.each(mutations)('The audit trail has words for %s', (procedure) => {
  expect(describeMutation(procedure)).not.toContain(procedure);
});
