import type { TestContext } from 'vitest';
import { RedisServer } from '../support/redis.ts';
import { type Backend, Stage } from '../support/stage.ts';

type Test = Pick<TestContext, 'onTestFinished'>;

/** A stage until the test ends. */
export async function openStage({ onTestFinished }: Test, backend: Backend = 'PostgreSQL'): Promise<Stage> {
  const stage = await Stage.open(backend);
  onTestFinished(() => stage.close());
  return stage;
}

/** The same with a Redis that the test may take away. */
export async function openRedisStage({ onTestFinished }: Test): Promise<{ stage: Stage; redis: RedisServer }> {
  const redis = await RedisServer.start();
  const stage = await Stage.on(redis);
  onTestFinished(() => stage.close());
  return { stage, redis };
}
