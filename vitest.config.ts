import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,contract,integration,e2e}/**/*.test.ts'],
    globalSetup: ['test/support/build-program.ts', 'test/support/postgres.ts'],
    setupFiles: ['test/support/end-with-parent.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // A machine with more to do takes longer than Vitest's one second to what is waited for.
    expect: { poll: { timeout: 10_000 } },
    maxWorkers: 3,
    // Each file has a database of its own; to load the modules anew for each would double the time.
    isolate: false,
  },
});
