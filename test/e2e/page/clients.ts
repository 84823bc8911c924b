import { type Client, createClient, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';

interface TransportOptions {
  readonly baseUrl: string;
  readonly interceptors: Interceptor[];
}

/** The protocols that a browser can speak with the services. */
export const protocols: ReadonlyMap<string, (options: TransportOptions) => Transport> = new Map([
  ['Connect', (options) => createConnectTransport(options)],
  // Queries by GET; what changes something goes by POST all the same. The message of a GET stands in
  // its address, which takes 16 KiB with all headers: hence the binary form, which is shorter.
  ['Connect with GET', (options) => createConnectTransport({ ...options, useHttpGet: true, useBinaryFormat: true })],
  ['gRPC-Web', (options) => createGrpcWebTransport(options)],
]);

export interface Clients {
  readonly slots: Client<typeof SlotService>;
  readonly stores: Client<typeof SlotStoreService>;
  readonly coupons: Client<typeof CouponService>;
}

export interface ClientOptions {
  /** A name in `protocols`. */
  readonly protocol: string;
  readonly token: string;
  readonly slotUrl: string;
  readonly couponUrl: string;
}

export function createClients({ protocol, token, slotUrl, couponUrl }: ClientOptions): Clients {
  const createTransport = protocols.get(protocol);
  if (createTransport === undefined) throw new Error(`no protocol ${protocol}`);
  const slot = createTransport({ baseUrl: slotUrl, interceptors: [authorize(token), readOwnWrites()] });
  const coupon = createTransport({ baseUrl: couponUrl, interceptors: [authorize(token)] });
  return {
    slots: createClient(SlotService, slot),
    stores: createClient(SlotStoreService, slot),
    coupons: createClient(CouponService, coupon),
  };
}

function authorize(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set('authorization', `Bearer ${token}`);
    return next(request);
  };
}

/** Makes each read of the stores wait until they cover the last slot write of these clients. */
function readOwnWrites(): Interceptor {
  let lastWrite: string | null = null;
  return (next) => async (request) => {
    if (lastWrite !== null && request.service.typeName === SlotStoreService.typeName) {
      request.header.set('store-request-id', lastWrite);
    }
    const response = await next(request);
    lastWrite = response.header.get('store-request-id') ?? lastWrite;
    return response;
  };
}
