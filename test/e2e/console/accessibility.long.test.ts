import { describeAccessibility } from './accessibility-checks.ts';

// By day.
describeAccessibility('on a desk', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
