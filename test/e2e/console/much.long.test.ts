import { describeMuch } from './much-checks.ts';

describeMuch(10_000, { isJudged: true });
