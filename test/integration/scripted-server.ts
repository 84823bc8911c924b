import { create, type DescMessage, type DescMethod, type DescService, type Message } from '@bufbuild/protobuf';
import type { Authenticator } from '../../shared/auth/authenticator.ts';
import { EncodedResponse, encodeMessage } from '../../shared/rpc/answers/response.ts';
import type { CallContext } from '../../shared/rpc/call-context.ts';
import { serveGrpc } from '../../shared/rpc/grpc/server.ts';
import { servedWithoutInterceptors } from '../support/served.ts';

/** What a server under test does with a call before it answers with an empty message. */
export interface Script {
  unary?(call: CallContext, count: number): Promise<void> | void;
  stream?(call: CallContext): AsyncIterable<Message>;
}

/** A gRPC server of a service without its rules, which fails as it is told. */
export interface ScriptedServer {
  readonly address: string;
  /** Calls so far. */
  readonly calls: readonly CallContext[];
  /** Ends it at once, with its connections. */
  kill(): void;
}

export async function startScriptedServer(
  service: DescService,
  script: Script = {},
  authenticator?: Authenticator,
): Promise<ScriptedServer> {
  const calls: CallContext[] = [];
  const respond = ({ output }: DescMethod, message: Message) =>
    new EncodedResponse(output, 'proto', encodeMessage(output, message));
  const rpcs = service.methods.map((method) => ({
    method,
    noStaffError: undefined,
    async invoke(_request: Message, call: CallContext) {
      calls.push(call);
      await script.unary?.(call, calls.length);
      return respond(method, create<DescMessage>(method.output));
    },
    async *stream(_request: Message, call: CallContext) {
      calls.push(call);
      for await (const message of script.stream?.(call) ?? []) yield respond(method, message);
    },
  }));
  const server = await serveGrpc(
    servedWithoutInterceptors([{ service, rpcs }], authenticator),
    { host: '127.0.0.1', port: 0 },
    undefined,
  );
  return { address: `127.0.0.1:${server.port}`, calls, kill: () => server.kill() };
}

/** The end of a call by its caller or its deadline. */
export function untilAborted({ signal }: CallContext): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}
