import { expect, it } from 'vitest';
import { ShutdownStack } from '../../shared/runtime/shutdown.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';

const silent = () => new ShutdownStack(createLogger('test', 'silent'));

it('The shutdown stops its steps in reverse, and goes on after one that fails', async () => {
  const stopped: string[] = [];
  const stack = silent();
  stack.push({ name: 'first', stop: () => void stopped.push('first') });
  stack.push({ name: 'second', stop: () => Promise.reject(new Error('no')) });
  stack.push({ name: 'third', stop: async () => void stopped.push('third') });
  await stack.stop(1000);
  expect(stopped).toEqual(['third', 'first']);
});

it('The shutdown kills a step that misses the deadline, and goes on', async () => {
  const done: string[] = [];
  const stack = silent();
  stack.push({ name: 'first', stop: () => void done.push('stopped') });
  stack.push({ name: 'stuck', stop: () => new Promise(() => undefined), kill: () => void done.push('killed') });
  await stack.stop(20);
  expect(done).toEqual(['killed', 'stopped']);
});
