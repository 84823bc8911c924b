import { constants } from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import { afterEach, describe, expect, it } from 'vitest';
import { GetDeliverySequenceRequestSchema, SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { type ScriptedServer, startScriptedServer } from '../../integration/scripted-server.ts';
import { grpcFrame, openSession, untilClosed } from '../../load/overload-stage.ts';
import { everybody } from '../../support/served.ts';

type Session = Awaited<ReturnType<typeof openSession>>;

describe('Requests that are reset', () => {
  let server: ScriptedServer;
  const sessions: Session[] = [];
  afterEach(() => {
    for (const session of sessions.splice(0)) session.destroy();
    server.kill();
  });

  async function open(): Promise<Session> {
    const session = await openSession(Number(server.address.split(':')[1]));
    sessions.push(session);
    return session;
  }

  function call(session: Session, authorization: string, body: Uint8Array) {
    const path = '/slot.v1.SlotService/GetDeliverySequence';
    const headers = {
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization,
    };
    const stream = session.request(headers);
    stream.on('error', () => undefined);
    stream.resume().end(grpcFrame(body));
    return stream;
  }

  /** The end of a stream: its status, or else the code of its reset. */
  async function endOf(stream: ReturnType<typeof call>): Promise<unknown> {
    let status: unknown;
    stream.once('response', (headers) => (status = headers['grpc-status']));
    stream.once('trailers', (headers) => (status = headers['grpc-status']));
    await untilClosed(stream);
    return status ?? stream.rstCode;
  }

  /** Resolves once the server has read all that was sent before. */
  const untilRead = (session: Session) => new Promise<void>((resolve) => void session.ping(() => resolve()));

  /** Nine are beyond a caller's share of the memory for requests. */
  const large = toBinary(
    GetDeliverySequenceRequestSchema,
    create(GetDeliverySequenceRequestSchema, { id: 'x'.repeat(3_900_000) }),
  );

  it('A request that is reset holds its place until its work has ended', async () => {
    const works: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => works.push(resolve));
    server = await startScriptedServer(SlotService, { unary: work }, everybody);
    const session = await open();
    const reset = Array.from({ length: 8 }, () => call(session, 'busy', large));
    await expect.poll(() => works.length).toBe(8);
    for (const stream of reset) stream.close(constants.NGHTTP2_CANCEL);
    await untilRead(session);
    expect(await endOf(call(session, 'busy', large))).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    for (const end of works) end();
    const next = call(session, 'busy', large);
    await expect.poll(() => works.length).toBe(9);
    works.at(-1)?.();
    expect(await endOf(next)).toBe('0');
  });
});
