import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { type DescMessage, type DescMethodUnary, type MessageShape, toBinary, toJsonString } from '@bufbuild/protobuf';
import { callGrpc, callJson, pathOf } from './answers.ts';
import { bodyFile, type Calls, frame, h2load, type Intensity, type Sample, sampleOf } from './load.ts';
import { openLoad, type Requests } from './persistent-load.ts';
import type { MeasuredServer } from './servers.ts';

export type { Intensity } from './load.ts';

/** The services under measurement, and what calling them takes. */
export interface Services {
  readonly slot: MeasuredServer;
  readonly coupon: MeasuredServer;
  readonly token: string;
  /** Of coupons that are valid. */
  readonly couponCodes: readonly string[];
  /** A coupon with relations. */
  readonly couponId: number;
  /** The first five characters of a few codes, two where there are such, and four of a tenth of all. */
  readonly rareTerm: string;
  readonly commonTerm: string;
  /** A slot whose sequence is no map, and is therefore not cached. */
  readonly arraySequenceSlot: number;
  readonly folder: string;
  /** Lets slots be booked, which changes what lists of them show. */
  openBookings(): Promise<void>;
  removeWritten(): Promise<void>;
}

/** The servers that the services are compared with. */
export interface BareServers {
  readonly bareGrpc: MeasuredServer;
  readonly bareHttp: MeasuredServer;
  /** Another server of the same .proto, if there is one. */
  readonly beside: MeasuredServer | undefined;
}

/** What all rows are measured on. */
export interface Stage extends Services, BareServers {
  /** The processor time of PostgreSQL's connections until now, in microseconds. */
  databaseTime(): Promise<number>;
}

/** One side of a comparison. */
export interface Side {
  readonly server: MeasuredServer;
  /** How many calls are in flight. */
  readonly inFlight: number;
  /** Makes a number of calls, at least those in flight. */
  load(count: number): Promise<Sample>;
  /** The same calls, for another load. */
  readonly requests: Requests;
}

/** A side with its answer to one call. */
export interface AnsweredSide<Answer> extends Side {
  readonly answer: Answer;
}

/**
 * Calls over gRPC once, for the side that the load then calls in the same way. Of several requests each
 * has its turn, which h2load can't do.
 */
export async function grpcSide<Input extends DescMessage, Output extends DescMessage>(
  { token, folder }: Pick<Services, 'token' | 'folder'>,
  server: MeasuredServer,
  method: DescMethodUnary<Input, Output>,
  [request, ...others]: readonly [MessageShape<Input>, ...MessageShape<Input>[]],
  intensity: Intensity,
): Promise<AnsweredSide<MessageShape<Output>>> {
  const answer = await callGrpc(server.grpcPort, method, request, token);
  const calls = {
    port: server.grpcPort,
    path: pathOf(method),
    bodyFile: await bodyFile(path.join(folder, randomUUID()), method.input, request, false),
    json: false,
    token,
    // Other answers may be shorter.
    answerBytes: others.length > 0 ? 1 : toBinary(method.output, answer).length,
    folder,
  };
  const bodies = [request, ...others].map((message) => frame(toBinary(method.input, message)));
  return sideOf(server, answer, calls, bodies, intensity);
}

/** The same with JSON over HTTP/1.1. */
export async function jsonSide<Input extends DescMessage, Output extends DescMessage>(
  { token, folder }: Pick<Services, 'token' | 'folder'>,
  server: MeasuredServer,
  method: DescMethodUnary<Input, Output>,
  request: MessageShape<Input>,
  intensity: Intensity,
): Promise<AnsweredSide<MessageShape<Output>>> {
  const body = toJsonString(method.input, request);
  const { message, bytes } = await callJson(server.webPort, method, body, token);
  const calls = {
    port: server.webPort,
    path: pathOf(method),
    bodyFile: await bodyFile(path.join(folder, randomUUID()), method.input, request, true),
    json: true,
    token,
    answerBytes: bytes,
    folder,
  };
  return sideOf(server, message, calls, [Buffer.from(body)], intensity);
}

function sideOf<Answer>(
  server: MeasuredServer,
  answer: Answer,
  calls: Calls,
  bodies: readonly Buffer[],
  intensity: Intensity,
): AnsweredSide<Answer> {
  const { connections, streams } = intensity;
  let next = 0;
  const body = () => {
    next = (next + 1) % bodies.length;
    return bodies[next] ?? Buffer.alloc(0);
  };
  const requests: Requests = { ...calls, body, connections, streams };
  return {
    server,
    answer,
    requests,
    inFlight: connections * streams,
    load: (count) => (bodies.length === 1 ? h2load(calls, intensity, count) : persistentLoad(requests, count)),
  };
}

/** The calls of a round on connections of its own. */
export async function persistentLoad(requests: Requests, count: number): Promise<Sample> {
  const load = await openLoad(requests);
  try {
    const start = performance.now();
    const took = await load.run(count);
    return sampleOf(took, (performance.now() - start) / 1000);
  } finally {
    load.close();
  }
}
