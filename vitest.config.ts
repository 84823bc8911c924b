import { defineConfig } from 'vitest/config';

// A timeout ends a test that hangs. It is no measure of speed: a busy machine may take its time.
const shared = {
  setupFiles: ['test/support/end-with-parent.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
  // Each file has a database of its own; to load the modules anew for each would double the time.
  isolate: false,
};

export default defineConfig({
  test: {
    globalSetup: ['test/support/build-program.ts', 'test/support/postgres.ts'],
    maxWorkers: 3,
    projects: [
      { test: { ...shared, name: 'suite', include: ['test/{unit,contract,integration,e2e}/**/*.test.ts'] } },
      { test: { ...shared, name: 'load', include: ['test/load/**/*.test.ts'] } },
    ],
  },
});
