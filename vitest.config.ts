import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,contract,integration,e2e}/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts'],
    setupFiles: ['test/support/end-with-parent.ts'],
    // For what hangs: on a machine with other work the start of a process alone can take 20 seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
    // Each file has a database of its own; to load the modules anew for each would double the time.
    isolate: false,
  },
});
