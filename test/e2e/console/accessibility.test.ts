import { describeAccessibility } from './accessibility-checks.ts';

// In a dark warehouse.
describeAccessibility('on a phone', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', hasTouch: true });
