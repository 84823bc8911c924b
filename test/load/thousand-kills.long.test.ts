import { expect, it, onTestFinished } from 'vitest';
import { describeUnless } from '../support/describe-unless.ts';
import { type Fault, noFailover } from '../support/postgres-cluster.ts';
import { noRedisServer, RedisServer } from '../support/redis.ts';
import { signToken } from '../support/tokens.ts';
import { ChaosStage } from './chaos-stage.ts';
import { startCluster } from './cluster.ts';
import { RedemptionLoad } from './redemption-load.ts';
import { expectTruth } from './slot-truth.ts';

const missing = noFailover ?? noRedisServer;
const kills = 500;
const killsPerFailover = 50;
const faults: readonly Fault[] = ['kill', 'freeze', 'stop'];

/** Where BullMQ keeps the jobs. */
const queues = [
  { name: 'PostgreSQL', openUrl: async () => undefined },
  {
    name: 'Redis',
    async openUrl() {
      const redis = await RedisServer.start();
      onTestFinished(() => redis.stop());
      return redis.url;
    },
  },
];

describeUnless(missing, 'Both services, killed again and again', undefined, () => {
  it.each(queues)(
    'Five hundred kills and ten failovers, with the jobs in $name, lose no acknowledged mutation, double none and exceed no limit',
    { timeout: 7_200_000 },
    async ({ openUrl }) => {
      const { cluster, sql } = await startCluster();
      const redisUrl = await openUrl();
      const stage = await ChaosStage.start(cluster.url, sql, () => ({ redisUrl }));
      onTestFinished(() => stage.stop());
      const redemptions = new RedemptionLoad(stage.portsOf('coupon'), await signToken({ staffId: 1 }), sql);
      onTestFinished(() => redemptions.close());
      stage.load();
      const redeeming = redemptions.run(Number.POSITIVE_INFINITY);
      redeeming.catch(() => undefined);

      // One replica of each service at a time.
      for (let killed = 0; killed < kills; killed += 2) {
        await stage.untilProgress();
        const pair = (killed / 2) % 2 === 0 ? [0, 1] : [2, 3];
        await Promise.all(pair.map((replica) => stage.killReplica(replica)));
        if ((killed + 2) % killsPerFailover === 0) {
          await cluster.failOver(faults[((killed + 2) / killsPerFailover) % faults.length] ?? 'kill');
          await cluster.rejoin();
          await cluster.waitForStandby();
          console.info(
            `${killed + 2} kills, ${stage.acknowledged.length} writes, ${redemptions.calls} redemption calls`,
          );
        }
      }
      redemptions.stop();
      await redeeming;
      await stage.endLoad();

      const attempts = stage.acknowledged.reduce((sum, one) => sum + one.attempts, 0);
      const unanswered = await redemptions.expectLinearizable();
      expect(unanswered).toBeGreaterThan(0);
      await expectTruth(
        sql,
        stage.replicas.filter((_, index) => index % 2 === 0),
      );
      await stage.expectAllWrittenOnce();
      console.info(
        `${kills} kills, ${kills / killsPerFailover} failovers, ${stage.acknowledged.length} writes in ${attempts} attempts, ` +
          `${redemptions.calls} calls that redeem, ${unanswered} of them without an answer`,
      );
    },
  );
});
