import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import type { TestService } from '../../support/service.ts';
import { signToken, withToken } from '../../support/tokens.ts';

/** Calls a service as the colleague `staff-<id>`, beside the console. */
export async function colleague<Api extends DescService>(
  { webPort }: TestService,
  api: Api,
  staffId: number,
): Promise<Client<Api>> {
  const transport = createConnectTransport({ baseUrl: `http://localhost:${webPort}`, httpVersion: '1.1' });
  return createClient(api, withToken(transport, await signToken({ staffId, subject: `staff-${staffId}` })));
}
