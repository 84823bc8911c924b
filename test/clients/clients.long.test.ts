import { afterAll, beforeAll, describe } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { signToken } from '../support/tokens.ts';
import { describeClients } from './clients.ts';

describe('Clients of others, without containers', () => {
  let slot: TestService;
  let token: string;

  beforeAll(async () => {
    slot = await startTestService('slot', () => ({ corsOrigins: ['http://localhost:*'] }));
    token = await signToken({ staffId: 1 });
  });

  afterAll(() => slot.stop());

  describeClients(() => ({ grpcPort: slot.grpcPort, webPort: slot.webPort, token }));
});
