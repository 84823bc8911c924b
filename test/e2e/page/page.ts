import { type DescMethod, type DescMethodUnary, fromJson, toJson } from '@bufbuild/protobuf';
import { ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { BadRequestSchema, ErrorInfoSchema } from '../../../shared/gen/google/rpc/error_details_pb.ts';
import { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { PageAnswer, PageCall, PageTarget } from '../page-calls.ts';

/** The test's, which learns of each version that this page sees. */
declare function noteVersion(version: number): Promise<void>;

let watching = new AbortController();
const services = [SlotService, SlotBookingService, SlotStoreService, CouponService];

/** Makes a call, and tells what the page sees of the answer. Never rejects. */
async function call({ procedure, request, headers, ...target }: PageCall): Promise<PageAnswer> {
  const method = methodOf(procedure);
  const input = fromJson(method.input, request);
  try {
    const answer = await connect(target).unary(method, undefined, undefined, headers, input, undefined);
    return { message: toJson(method.output, answer.message), headers: Object.fromEntries(answer.header) };
  } catch (error) {
    return { error: describe(error) };
  }
}

/** Notes each version of the derived stores, until the page stops watching. */
async function watch({ headers, ...target }: PageTarget): Promise<void> {
  watching = new AbortController();
  const { signal } = watching;
  const client = createClient(SlotStoreService, connect(target));
  try {
    for await (const { version } of client.watchStore({}, { headers, signal })) await noteVersion(version);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function connect({ protocol, url }: Pick<PageTarget, 'protocol' | 'url'>): Transport {
  if (protocol === 'gRPC-Web') return createGrpcWebTransport({ baseUrl: url });
  // The message of a GET stands in its address, which takes 16 KiB with all headers: hence the binary form, which is shorter.
  const byGet = protocol === 'Connect with GET';
  return createConnectTransport({ baseUrl: url, useHttpGet: byGet, useBinaryFormat: byGet });
}

function methodOf(procedure: string): DescMethodUnary {
  const isMeant = (method: DescMethod): method is DescMethodUnary =>
    method.methodKind === 'unary' && `${method.parent.typeName}/${method.name}` === procedure;
  const method = services.flatMap(({ methods }) => methods).find(isMeant);
  if (method === undefined) throw new Error(`there is no ${procedure}`);
  return method;
}

/** What went wrong, in the words of the service or of the browser. */
function describe(thrown: unknown): NonNullable<PageAnswer['error']> {
  const error = ConnectError.from(thrown);
  const violations = error.findDetails(BadRequestSchema).flatMap((detail) => detail.fieldViolations);
  return {
    message: error.rawMessage,
    reason: error.findDetails(ErrorInfoSchema)[0]?.reason ?? '',
    fields: violations.map(({ field }) => field),
  };
}

Object.assign(globalThis, { call, watch, stopWatching: () => watching.abort() });
