import { create, type DescMethodUnary, toBinary } from '@bufbuild/protobuf';
import { untilReady } from '../../services/dev/health.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { signToken } from '../support/tokens.ts';
import type { Answer, FuzzRequest, HttpExchange, Variables } from './exchange.ts';
import { FuzzedService } from './fuzzed-service.ts';
import { judge } from './judge.ts';
import { envelope } from './mutations.ts';
import { Http1Sender } from './send-http1.ts';
import { Http2Sender } from './send-http2.ts';
import { sendOnSocket } from './send-socket.ts';

interface Line {
  readonly level?: string;
  readonly msg?: string;
  readonly reason?: string;
}

/** Both services over one database, and the clients that send to them. */
export class FuzzedServices {
  readonly services: readonly FuzzedService[];
  readonly #senders: Record<'slot' | 'coupon', { http1: Http1Sender; http2: Http2Sender; service: FuzzedService }>;
  readonly #variables: Variables;
  /** The number of times that each warning was logged. */
  readonly warnings = new Map<string, number>();

  private constructor(slot: FuzzedService, coupon: FuzzedService, variables: Variables) {
    this.services = [slot, coupon];
    this.#variables = variables;
    const sendersOf = (service: FuzzedService) => ({
      http1: new Http1Sender(service.webPort, variables),
      http2: new Http2Sender(service.grpcPort, variables),
      service,
    });
    this.#senders = { slot: sendersOf(slot), coupon: sendersOf(coupon) };
  }

  static async start(databaseUrl: string, programFolder: string, folder: string): Promise<FuzzedServices> {
    const [slot, coupon] = await Promise.all([
      FuzzedService.start('slot', databaseUrl, programFolder, folder),
      FuzzedService.start('coupon', databaseUrl, programFolder, folder),
    ]);
    return new FuzzedServices(slot, coupon, {
      staff: await signToken({ staffId: 1 }),
      guest: await signToken(),
      expired: await signToken({ staffId: 1, expiresIn: -3_600 }),
      storeRequest: '',
    });
  }

  async send(request: FuzzRequest): Promise<Answer> {
    const { http1, http2, service } = this.#senders[request.service];
    if (request.over === 'socket')
      return sendOnSocket(request.port === 'grpc' ? service.grpcPort : service.webPort, request);
    const answer = await (request.over === 'http1' ? http1 : http2).send(request);
    this.#variables.storeRequest = answer.headers['store-request-id'] ?? this.#variables.storeRequest;
    return answer;
  }

  /** The present faults of the services: of their processes, health and logs, and of a call that must succeed. */
  async check(): Promise<string[]> {
    const faults: string[] = [];
    for (const service of this.services) {
      const ended = await service.endedBecause();
      if (ended !== undefined) faults.push(ended);
      await untilReady('127.0.0.1', service.webPort, AbortSignal.timeout(5_000)).catch(() =>
        faults.push(`${service.name}-service is not ready`),
      );
      for (const line of await service.newLines()) faults.push(...this.#faultsOfLine(line));
    }
    for (const request of knownGood()) {
      const { outcome } = judge(request, await this.send(request));
      if (outcome !== 'OK') faults.push(`${request.label.procedure} over ${request.label.protocol} answers ${outcome}`);
    }
    return faults;
  }

  async stop(): Promise<void> {
    for (const { http1, http2 } of Object.values(this.#senders)) {
      http1.close();
      http2.close();
    }
    await Promise.all(this.services.map((service) => service.stop()));
  }

  #faultsOfLine(line: string): string[] {
    let entry: Line;
    try {
      entry = JSON.parse(line);
    } catch {
      return [`a line of the log is no JSON: ${line.slice(0, 500)}`];
    }
    if (entry.level === 'error' || entry.level === 'fatal') return [`logged: ${line.slice(0, 3_000)}`];
    if (line.includes('eyJ')) return [`logged a token: ${line.slice(0, 500)}`];
    if (entry.level === 'warn') {
      const key = [entry.msg, entry.reason].filter((part) => part !== undefined).join(': ');
      this.warnings.set(key, (this.warnings.get(key) ?? 0) + 1);
    }
    return [];
  }
}

function knownGood(): HttpExchange[] {
  const calls: readonly ['slot' | 'coupon', DescMethodUnary, { id: number }][] = [
    ['slot', SlotService.method.getSlotById, { id: 1 }],
    ['coupon', CouponService.method.getById, { id: 1 }],
  ];
  return calls.flatMap(([service, method, fields]) => {
    const path = `/${method.parent.typeName}/${method.name}`;
    const message = Buffer.from(toBinary(method.input, create(method.input, fields)));
    const call = (over: 'http1' | 'http2', protocol: string, type: string, body: Buffer): HttpExchange => ({
      ...{ over, service, mayBeLost: false, method: 'POST', path, body: body.toString('base64') },
      label: { protocol, procedure: path.slice(1), kind: 'known good' },
      headers: Object.entries({ 'content-type': type, authorization: 'Bearer {staff}' }),
    });
    return [
      call('http2', 'gRPC', 'application/grpc', envelope(0, message)),
      call('http1', 'Connect', 'application/proto', message),
    ];
  });
}
