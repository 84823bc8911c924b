import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,contract,integration,e2e}/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    maxWorkers: 3,
  },
});
