import { it } from 'vitest';
import { expectCancelsHarmless } from '../support/canceled-statements.ts';

it('10,000 canceled statements end no other one, and cost no connection', () => expectCancelsHarmless(10_000));
