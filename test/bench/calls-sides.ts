import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type DescMessage, type DescMethodUnary, type MessageShape, toBinary, toJsonString } from '@bufbuild/protobuf';
import { callGrpc, callJson, pathOf } from './answers.ts';
import { bodyFile, type Calls, h2load, type Intensity, type Sample } from './load.ts';
import type { Requests } from './persistent-load.ts';
import type { MeasuredServer } from './servers.ts';

export type { Intensity } from './load.ts';

/** The services under measurement, and what calling them takes. */
export interface Services {
  readonly slot: MeasuredServer;
  readonly coupon: MeasuredServer;
  readonly token: string;
  /** Of a coupon that is valid. */
  readonly couponCode: string;
  readonly folder: string;
  removeWritten(): Promise<void>;
}

/** The servers that the services are compared with. */
export interface BareServers {
  readonly bareGrpc: MeasuredServer;
  readonly bareHttp: MeasuredServer;
}

/** What all rows are measured on. */
export interface Stage extends Services, BareServers {
  /** Starts another slot-service, of several processes on both cores. */
  startSlotService(processes: number): Promise<MeasuredServer>;
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

/** Calls over gRPC once, for the side that h2load then calls in the same way. */
export async function grpcSide<Input extends DescMessage, Output extends DescMessage>(
  { token, folder }: Pick<Services, 'token' | 'folder'>,
  server: MeasuredServer,
  method: DescMethodUnary<Input, Output>,
  request: MessageShape<Input>,
  intensity: Intensity,
): Promise<AnsweredSide<MessageShape<Output>>> {
  const answer = await callGrpc(server.grpcPort, method, request, token);
  const calls = {
    port: server.grpcPort,
    path: pathOf(method),
    bodyFile: await bodyFile(path.join(folder, randomUUID()), method.input, request, false),
    json: false,
    token,
    answerBytes: toBinary(method.output, answer).length,
    folder,
  };
  return {
    server,
    answer,
    requests: await requestsOf(calls, intensity),
    inFlight: intensity.connections * intensity.streams,
    load: (count) => h2load(calls, intensity, count),
  };
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
  return {
    server,
    answer: message,
    requests: await requestsOf(calls, intensity),
    inFlight: intensity.connections * intensity.streams,
    load: (count) => h2load(calls, intensity, count),
  };
}

async function requestsOf(calls: Calls, { connections, streams }: Intensity): Promise<Requests> {
  const content = await readFile(calls.bodyFile);
  return { ...calls, body: () => content, connections, streams };
}
