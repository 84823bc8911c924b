import { fromJsonString } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCouponService } from '../../services/coupon-service/service.ts';
import { seedDemo } from '../../services/dev/seed/seed.ts';
import { serviceEnvironment } from '../../services/dev/settings.ts';
import { startSlotService } from '../../services/slot-service/service.ts';
import { readConfig, type ServiceName } from '../../shared/config/config.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import type { RunningService } from '../../shared/runtime/start-service.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { run } from '../support/processes.ts';
import { signToken, testSecret } from '../support/tokens.ts';
import { commandExamples, programExamples } from './documented-examples.ts';

const hasGrpcurl = (await run('grpcurl', ['-version'])).code === 0;
const madeByBuf = hasGrpcurl ? '' : ' (of grpcurl, which is not on the PATH, buf makes the call)';

describe('The documented calls', () => {
  let database: TestDatabase;
  let running: { slot: RunningService; coupon: RunningService };
  /** What the reader's shell has: a token, and the secret that `npm run token` signs with. */
  let env: { TOKEN: string; AUTH_JWT_SECRET: string };

  beforeAll(async () => {
    database = await createDatabase();
    await seedDemo(database.url);
    running = { slot: await start('slot'), coupon: await start('coupon') };
    env = { TOKEN: await signToken({ staffId: 1 }), AUTH_JWT_SECRET: testSecret };
  });
  afterAll(async () => {
    await Promise.all([running.slot.stop(), running.coupon.stop()]);
    await database.close();
  });

  function start(name: ServiceName): Promise<RunningService> {
    const config = readConfig(name, serviceEnvironment({ AUTH_JWT_SECRET: testSecret }, database.url, undefined));
    const startService = { slot: startSlotService, coupon: startCouponService }[name];
    return startService({ ...config, grpcPort: 0, webPort: 0 }, createLogger(name, 'silent'));
  }

  /** The example with the ports of the services that run here. */
  function localized(text: string): string {
    const { slot, coupon } = running;
    const ports = { 50051: slot.grpcPort, 8051: slot.webPort, 50052: coupon.grpcPort, 8052: coupon.webPort };
    return Object.entries(ports)
      .reduce((done, [port, own]) => done.replaceAll(`localhost:${port}`, `LOCAL:${own}`), text)
      .replaceAll('LOCAL', 'localhost');
  }

  /** The JSON that a command prints: an error of buf goes to stderr. */
  async function printed(command: string): Promise<unknown> {
    const { stdout, stderr } = await run('sh', ['-c', localized(command)], env);
    return parse(stdout || stderr);
  }

  it('The documented calls show each tool and each library', () => {
    expect(commandExamples.map(({ tool }) => tool)).toEqual([
      ...['curl', 'npx buf curl', 'grpcurl', 'curl'],
      ...['curl', 'curl', 'curl', 'curl'],
      ...['curl', 'grpcurl', 'curl', 'grpcurl', 'curl'],
      ...['curl', 'curl', 'curl', 'grpcurl', 'npx buf curl', 'curl', 'curl'],
    ]);
    const [connect, grpc] = ['delivery-admin-client', 'delivery-admin-client/grpc'];
    expect(programExamples.map(({ library }) => library)).toEqual([
      ...[grpc, connect, connect],
      ...[grpc, grpc],
      ...[grpc],
      ...[grpc, connect, connect],
    ]);
  });

  // In their order, because each may need what those before it have written. grpcurl can't be installed everywhere: without it,
  // buf makes its call, which reads the same reflection.
  it.each(commandExamples)(`$tool prints the JSON below its command${madeByBuf}`, async ({ tool, command, output }) => {
    const isMadeByBuf = tool === 'grpcurl' && !hasGrpcurl;
    expect(await printed(isMadeByBuf ? asBuf(command) : command)).toEqual(parse(output));
  });

  it.each(programExamples)('The program with $library prints what its comments say', async ({ program, output }) => {
    expect(output).not.toBe('');
    const args = ['--import', 'tsx', '--input-type=module', '--eval', localized(program)];
    expect(await run(process.execPath, args, env)).toEqual({ code: 0, stdout: `${output}\n`, stderr: '' });
  });
});

/** The call of grpcurl as a call of buf. Throws unless the message fits the procedure. */
function asBuf(command: string): string {
  const [, body = '', address, service, name] = / -d '(.*)' \\\s+(\S+) ([\w.]+)\/(\w+)$/m.exec(command) ?? [];
  const methods = [SlotService, RedemptionService, SlotBookingService].flatMap((each) => each.methods);
  const method = methods.find(({ parent, name: own }) => parent.typeName === service && own === name);
  if (method === undefined) throw new Error(`there is no ${service}/${name}`);
  fromJsonString(method.input, body);
  const options = '--http2-prior-knowledge --protocol grpc -H "authorization: Bearer $TOKEN"';
  return `npx buf curl ${options} -d '${body}' http://${address}/${service}/${name}`;
}

/** The answer, without what no two runs share: the clock, and chance in a generated code and in an etag. */
function parse(json: string): unknown {
  return JSON.parse(
    json
      .replace(/(DC3210)\d{6}[A-Z0-9]{4}/, '$1')
      .replace(/("etag": ?")\d+/, '$1')
      .replace(/("(?:heldUntil|createdAt|usedAt|bookedAt|releasedAt)": ?")[^"]+/g, '$1'),
  );
}
