import { describeAccessibility } from './accessibility-checks.ts';

const desk = { viewport: { width: 1280, height: 800 } };

// By day, and the rest of what the suite does not try.
describeAccessibility('on a desk', { ...desk, colorScheme: 'light' });
describeAccessibility('on a dark desk', { ...desk, colorScheme: 'dark' });
describeAccessibility('on a phone by day', {
  viewport: { width: 360, height: 740 },
  colorScheme: 'light',
  hasTouch: true,
});
