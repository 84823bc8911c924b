// Vitest's workers outlive a run that is killed, and with them all that their tests have started.
process.once('disconnect', () => process.exit(1));
