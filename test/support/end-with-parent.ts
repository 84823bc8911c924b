/** Workers of Vitest outlive a run that is killed, and so do the processes that their tests have started. */
function endWithParent(): void {
  process.exit(1);
}

// This file runs before each test file, in the same process.
const isThere = process.listeners('disconnect').some(({ name }) => name === endWithParent.name);
if (!isThere) process.on('disconnect', endWithParent);
