import type { DescService } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { describe, expect } from 'vitest';
import { ImportService } from '../../shared/gen/catalog/v1/import_service_pb.ts';
import { CouponBatchService } from '../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { BadRequestSchema, type ErrorInfo, ErrorInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { type ExpectedReason, expectedErrors } from './expected-errors.ts';
import { grpc, type Protocol } from './protocols.ts';
import { runService } from './running-service.ts';
import type { TestService } from './service.ts';
import { withToken } from './tokens.ts';

/** What the tests of a contract call: one service, over one protocol. */
export interface Api<Service extends DescService> {
  /** As staff user 1. */
  readonly staff: Client<Service>;
  /** With a token, but no staff identity. */
  readonly guest: Client<Service>;
  readonly sql: TestService['database']['sql'];
  readonly protocol: Protocol;
  readonly databaseUrl: string;
  /** The parsed lines that the service has logged. */
  readonly log: TestService['log'];
  /** A transport to any service on the same ports, with the token of that caller. */
  transportAs(caller: 'staff' | 'guest' | 'nobody'): Transport;
  /** The ports of the service. */
  readonly ports: Pick<TestService, 'grpcPort' | 'webPort'>;
  /** A client with any token, or with none. */
  as(token: string | undefined): Client<Service>;
}

export const slotContract = contractOf('slot', SlotService);
export const planContract = contractOf('slot', SlotPlanService);
export const bookingContract = contractOf('slot', SlotBookingService);
export const importContract = contractOf('slot', ImportService);
export const couponContract = contractOf('coupon', CouponService);
export const redemptionContract = contractOf('coupon', RedemptionService);
export const batchContract = contractOf('coupon', CouponBatchService);

/**
 * Declares the tests of a rule, with a service and a database of their own. They run once, over gRPC: that a procedure
 * gives the same answers and errors over every protocol is what rpc/conformance.test.ts says. Tests of what each protocol
 * does in its own way run `over` those protocols, with another service and database for each.
 */
function contractOf<Service extends DescService>(name: 'slot' | 'coupon', desc: Service) {
  const over = (protocols: readonly Protocol[]) => (subject: string, tests: (api: Api<Service>) => void) => {
    describe.each(protocols)(protocols.length === 1 ? subject : `${subject} over $name`, (protocol) => {
      const service = runService(name, undefined, protocol);
      tests({
        staff: createClient(desc, service.staff),
        guest: createClient(desc, service.guest),
        sql: service.sql,
        protocol,
        get databaseUrl() {
          return service.database.url;
        },
        get log() {
          return service.log;
        },
        transportAs: (caller) => service[caller],
        ports: service,
        as: (token) => createClient(desc, withToken(service.nobody, token)),
      });
    });
  };
  return Object.assign(over([grpc]), { over });
}

export interface Expected {
  readonly code: keyof typeof Code;
  readonly message: string;
  readonly reason: string;
}

/** Asserts the code, message and reason of a call that must fail, and returns its ErrorInfo. */
export async function expectError(call: Promise<unknown>, expected: ExpectedReason | Expected): Promise<ErrorInfo> {
  const error = await failureOf(call);
  const info = error.findDetails(ErrorInfoSchema)[0];
  expect({ code: Code[error.code], message: error.rawMessage, reason: info?.reason }).toEqual(
    typeof expected === 'string' ? rowOf(expected) : expected,
  );
  if (info === undefined) throw new Error('the error has no ErrorInfo');
  expect(info.domain).toBe('delivery-admin');
  return info;
}

function rowOf(reason: ExpectedReason): Expected {
  const [code, message] = expectedErrors[reason];
  return { code, message, reason };
}

/** Asserts that a call fails as INVALID_ARGUMENT and names the field in its message and its details. */
export async function expectInvalidField(call: Promise<unknown>, field: string): Promise<void> {
  const error = await failureOf(call);
  expect(Code[error.code], error.rawMessage).toBe('InvalidArgument');
  const fields = error.findDetails(BadRequestSchema).flatMap((detail) => detail.fieldViolations.map((v) => v.field));
  expect(fields.map(toJsonName)).toContain(toJsonName(field));
  expect(toJsonName(error.rawMessage)).toContain(toJsonName(field));
}

/** The names of fields as JSON spells them: as an error does to a request in JSON. */
export const toJsonName = (text: string) =>
  text.replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());

/** The error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ConnectError)) throw new Error(`expected a ConnectError, not ${String(error)}`);
  return error;
}
