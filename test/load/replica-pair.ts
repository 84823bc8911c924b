import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { ServiceName } from '../../shared/config/config.ts';
import { Replica } from '../support/replica.ts';
import { signToken } from '../support/tokens.ts';
import type { Ports } from './retrying-client.ts';

interface Load {
  readonly calls: number;
  run(calls: number): Promise<void>;
  close(): void;
}

/** Starts two replicas of a service, and a load over both, until the test ends. */
export async function startPair<PairLoad extends Load>(
  service: ServiceName,
  databaseUrl: string,
  createLoad: (ports: readonly Ports[], token: string) => PairLoad,
) {
  const start = () => Replica.start({ service, databaseUrl });
  const replicas: [Replica, Replica] = [await start(), await start()];
  const load = createLoad(
    replicas.map(({ ports }) => ports),
    await signToken({ staffId: 1 }),
  );
  onTestFinished(async () => {
    load.close();
    await Promise.all(replicas.map((replica) => replica.kill()));
  });

  /** Ends a replica as `kill -9` does, and starts it again once `meanwhile` is over. */
  async function kill(index: 0 | 1, meanwhile: () => Promise<void>): Promise<void> {
    // At any moment of a call.
    await pause(Math.random() * 50);
    await replicas[index].kill();
    await meanwhile();
    replicas[index] = await replicas[index].startAgain();
  }

  return {
    load,
    /** Has the load make so many calls, and kills the replicas in turns so often. `meanwhile` is told the number of the kill. */
    async runOverKills(calls: number, kills: number, meanwhile: (n: number) => Promise<void>): Promise<void> {
      const running = load.run(calls);
      // The last calls follow the last kill.
      const callsPerKill = Math.floor(calls / (kills + 3));
      for (let n = 1; n <= kills; n += 1) {
        const reached = expect
          .poll(() => load.calls, { timeout: 600_000, interval: 50 })
          .toBeGreaterThanOrEqual(n * callsPerKill);
        await Promise.race([running, reached]);
        await kill(n % 2 === 0 ? 0 : 1, () => meanwhile(n));
      }
      await running;
    },
  };
}
