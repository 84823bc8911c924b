/** Vitest's workers outlive a run that is killed, and with them all that their tests have started. */
function endWithParent(): void {
  process.exit(1);
}

// This file runs before each file of tests, in the same process.
const isThere = process.listeners('disconnect').some(({ name }) => name === endWithParent.name);
if (!isThere) process.on('disconnect', endWithParent);
