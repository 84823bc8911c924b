import { type DescMethod, type Message, toJson } from '@bufbuild/protobuf';
import { Code, type Transport } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BadRequestSchema, ErrorInfoSchema } from '../../../shared/gen/google/rpc/error_details_pb.ts';
import { isMutation } from '../../../shared/rpc/procedure.ts';
import { procedures, recordsForCalls } from '../../support/calls.ts';
import { failureOf, toJsonName } from '../../support/contract.ts';
import { protocols } from '../../support/protocols.ts';
import { fixture, startTestService, type TestService } from '../../support/service.ts';
import { signToken, withToken } from '../../support/tokens.ts';

/** What a mutation sets anew each time: the etag, and what follows from the time of the call or is random. */
const drawn = ['etag', 'createdAt', 'validTill', 'heldUntil', 'usedAt', 'bookedAt', 'releasedAt'];

/** An answer of a mutation with the type alone of what is drawn. */
function withoutDrawn(answer: Message, { output }: DescMethod): unknown {
  return JSON.parse(
    JSON.stringify(toJson(output, answer), (key, value) =>
      drawn.includes(key) || /^DC\d/.test(String(value)) ? `a ${typeof value}` : value,
    ),
  );
}

/** What a caller can tell of an error, with the JSON names of fields. */
async function told(call: Promise<unknown>) {
  const error = await failureOf(call);
  return {
    code: Code[error.code],
    message: toJsonName(error.rawMessage),
    info: error.findDetails(ErrorInfoSchema),
    violations: error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) =>
      fieldViolations.map((violation) => ({
        ...violation,
        field: toJsonName(violation.field),
        description: toJsonName(violation.description),
      })),
    ),
  };
}

/** The records are as at the start, with the same ids. */
const restore = `
  truncate slots, product_slots, vendor_snippets, coupons, coupon_applicable_users, coupon_applicable_products,
    slot_bookings, slot_usage, reserved_coupons, redemptions, coupon_batches, coupon_usage, orders, order_statuses, users, staff_users, products,
    product_groups restart identity cascade;
  ${fixture}; ${recordsForCalls}`;

describe.each(['slot', 'coupon'] as const)('Every procedure of %s-service', (name) => {
  let service: TestService;
  let opened: { readonly transport: Transport; close(): void }[];
  let tokens: Record<'staff' | 'guest', string>;
  beforeAll(async () => {
    service = await startTestService(name, () => ({ storeRefreshDelayMs: 600_000 }));
    await service.database.sql(recordsForCalls);
    opened = protocols.map((protocol) => protocol.open(service));
    tokens = { staff: await signToken({ staffId: 1 }), guest: await signToken() };
  });
  afterAll(async () => {
    for (const { close } of opened) close();
    await service.stop();
  });

  /** What a call gives over each protocol, by its name. */
  async function overEach(call: (transport: Transport) => Promise<unknown>): Promise<[string, unknown][]> {
    const given: [string, unknown][] = [];
    for (const [at, { transport }] of opened.entries()) {
      given.push([protocols[at]?.name ?? '', await call(transport)]);
    }
    return given;
  }
  /** Expects the same over each protocol, and returns it. */
  function expectSame(given: readonly [string, unknown][]): unknown {
    const [first] = given;
    expect(given).toEqual(given.map(([protocol]) => [protocol, first?.[1]]));
    return first?.[1];
  }

  const queries = procedures[name].filter(({ method }) => !isMutation(method) || method.methodKind !== 'unary');
  const mutations = procedures[name].filter((one) => !queries.includes(one));

  it.each(queries)('$name gives the same answer over every protocol', async ({ succeeds }) => {
    expectSame(await overEach((transport) => succeeds(withToken(transport, tokens.staff), 1)));
  });

  it.each(mutations)('$name of the same records gives the same answer over every protocol', async (mutation) => {
    const given = await overEach(async (transport) => {
      await service.database.sql(restore);
      return withoutDrawn(await mutation.succeeds(withToken(transport, tokens.staff), 1), mutation.method);
    });
    expectSame(given);
  });

  it.each(procedures[name])('$name refuses a call with the same error over every protocol', async ({ refused }) => {
    const given = await overEach((transport) => {
      const { staff, guest } = tokens;
      const callers = { staff: withToken(transport, staff), guest: withToken(transport, guest), nobody: transport };
      return told(refused(callers));
    });
    expect(expectSame(given)).toMatchObject({ info: [{ domain: 'delivery-admin', reason: expect.any(String) }] });
  });

  it.each(procedures[name].filter(({ invalid }) => invalid !== undefined))(
    '$name names the invalid fields of a request in the same way over every protocol',
    async ({ invalid }) => {
      const given = await overEach((transport) =>
        told(invalid?.(withToken(transport, tokens.staff)) ?? Promise.resolve()),
      );
      expect(expectSame(given)).toMatchObject({
        code: 'InvalidArgument',
        info: [{ domain: 'delivery-admin', reason: expect.any(String) }],
        violations: expect.arrayContaining([expect.objectContaining({ field: expect.any(String) })]),
      });
    },
  );

  it('Fields have their JSON names for a request in JSON, and those of the .proto for any other', async () => {
    const { invalid } = procedures[name].find((one) => /createSlot|redeem/.test(one.name)) ?? {};
    const given = await overEach(async (transport) => {
      const error = await failureOf(invalid?.(withToken(transport, tokens.staff)) ?? Promise.resolve());
      return error.findDetails(BadRequestSchema)[0]?.fieldViolations[0]?.field;
    });
    const [snake, camel] =
      name === 'slot' ? ['vendor_snippets[0].name', 'vendorSnippets[0].name'] : ['order_key', 'orderKey'];
    expect(given).toEqual(protocols.map((protocol) => [protocol.name, protocol.name === 'Connect' ? camel : snake]));
  });

  it.each(procedures[name])('$name refuses a caller without a credential over every protocol', async ({ succeeds }) => {
    expect(expectSame(await overEach((transport) => told(succeeds(transport, 1))))).toMatchObject({
      code: 'Unauthenticated',
      message: 'Authentication required',
      info: [{ reason: 'AUTHENTICATION_REQUIRED' }],
    });
  });
});
