import { defineConfig } from 'vitest/config';
import { patienceMs } from './test/support/patience.ts';

// A timeout ends a test that hangs. It is no measure of speed: a busy machine may take its time.
const shared = {
  setupFiles: ['test/support/end-with-parent.ts'],
  testTimeout: 2 * patienceMs,
  hookTimeout: 2 * patienceMs,
  expect: { poll: { timeout: patienceMs } },
  // Each file has a database of its own; to load the modules anew for each would double the time.
  isolate: false,
};
// Containers are built, started and waited for.
const withContainers = {
  ...shared,
  testTimeout: 600_000,
  hookTimeout: 900_000,
};
const withPrograms = { ...shared, globalSetup: ['test/support/build-program.ts', 'test/support/postgres.ts'] };

// `npm run test:long` has these alone, and CI all others at every run.
const exclude = ['**/*.long.test.ts'];

export default defineConfig({
  test: {
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...withPrograms,
          name: 'suite',
          include: ['test/{unit,contract,integration,e2e}/**/*.test.ts'],
          exclude,
        },
      },
      { test: { ...withPrograms, name: 'load', include: ['test/load/**/*.test.ts'], exclude } },
      { test: { ...withContainers, name: 'containers', include: ['test/containers/**/*.test.ts'], exclude } },
      { test: { ...withPrograms, name: 'long', include: ['test/!(containers)/**/*.long.test.ts'] } },
      { test: { ...withContainers, name: 'long-containers', include: ['test/containers/**/*.long.test.ts'] } },
    ],
  },
});
