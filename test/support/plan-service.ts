import { type Client, createClient } from '@connectrpc/connect';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { createGrpcJsTransport } from './grpc-transport.ts';
import { startTestService, type TestService } from './service.ts';
import { signToken, withToken } from './tokens.ts';

/** A slot-service with a database of its own, and its clients over gRPC as staff user 1. */
export interface PlanTestService {
  readonly database: TestService['database'];
  readonly plan: Client<typeof SlotPlanService>;
  readonly slots: Client<typeof SlotService>;
  stop(): Promise<void>;
}

export async function startPlanService(): Promise<PlanTestService> {
  const service = await startTestService('slot');
  const connection = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
  const staff = withToken(connection, await signToken({ staffId: 1 }));
  return {
    database: service.database,
    plan: createClient(SlotPlanService, staff),
    slots: createClient(SlotService, staff),
    async stop() {
      connection.close();
      await service.stop();
    },
  };
}
