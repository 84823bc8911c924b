/**
 * Loaded into a service under test. On a message of its parent, it collects garbage and reports the
 * memory that is left. It changes nothing else in the process.
 */
process.on('message', (message) => {
  if (message !== 'memory') return;
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const kinds: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  process.send?.({ ...process.memoryUsage(), resources: process.getActiveResourcesInfo().length, kinds });
});
process.channel?.unref();
