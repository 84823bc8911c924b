import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,contract,integration,e2e}/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    maxWorkers: 3,
    // Each file has a database of its own; to load the modules anew for each would double the time.
    isolate: false,
  },
});
