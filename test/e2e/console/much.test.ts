import { describeMuch } from './much-checks.ts';

describeMuch(2_000, { isJudged: false });
