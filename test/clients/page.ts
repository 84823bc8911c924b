import { randomUUID } from 'node:crypto';
import {
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  toJson,
} from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { CreateSlotResponseSchema, GetSlotByIdResponseSchema } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { CallingPage } from '../e2e/calling-page.ts';
import type { PageAnswer, PageTarget } from '../e2e/page-calls.ts';
import { bundlePage, PageServer } from '../e2e/page-server.ts';
import { eventually } from '../support/eventually.ts';
import { bookSlot } from './booking.ts';
import { newSlot, type Outcome, refusedSlot, type Target, unknownSlot } from './outcome.ts';

/** Has a page of an origin of its own make the calls. */
export async function callFromPage(
  browser: Browser,
  protocol: PageTarget['protocol'],
  target: Target,
): Promise<Outcome> {
  const server = await PageServer.start(await bundlePage());
  const context = await browser.newContext();
  const page = await CallingPage.of(await context.newPage(), target.token);
  try {
    await page.page.goto(server.origin);
    const call = (name: string, request: object, headers = {}) =>
      page.call(protocol, target, `slot.v1.SlotService/${name}`, { ...request }, headers);
    const callBookings = async (name: string, request: JsonObject) =>
      messageOf(await page.call(protocol, target, `slot.v1.SlotBookingService/${name}`, request));
    const watched = page.watch(protocol, target);
    // It rejects at a page that is closed since another call has failed, too.
    watched.catch(() => undefined);
    await eventually(() => expect(page.versions).not.toEqual([]));
    const key = { 'idempotency-key': randomUUID() };
    const answers = [await call('CreateSlot', newSlot, key), await call('CreateSlot', newSlot, key)] as const;
    const created = read(CreateSlotResponseSchema, answers[0]);
    const found = read(GetSlotByIdResponseSchema, await call('GetSlotById', { id: created.slot?.id }));
    const booked = await bookSlot(created.slot?.id, callBookings);
    const failures = [await call('GetSlotById', unknownSlot), await call('CreateSlot', refusedSlot)] as const;
    await eventually(() => expect(page.versions.length).toBeGreaterThan(1));
    await page.stopWatching();
    await watched;
    return {
      ...booked,
      read: found.slot?.deliveryTime === undefined ? '' : toJson(TimestampSchema, found.slot.deliveryTime),
      versions: page.versions,
      isSame: JSON.stringify(answers[0].message) === JSON.stringify(answers[1].message),
      replayed: answers.map(({ headers }) => headers?.['idempotent-replayed'] === 'true'),
      reasons: [failures[0].error?.reason ?? ''],
      fields: failures[1].error?.fields ?? [],
    };
  } finally {
    await page.close();
    await server.stop();
  }
}

/** The message of an answer, as JSON. Throws the error of a call that has failed. */
function messageOf({ message, error }: PageAnswer): JsonValue {
  if (message === undefined) throw new Error(JSON.stringify(error));
  return message;
}

const read = <Schema extends DescMessage>(schema: Schema, answer: PageAnswer): MessageShape<Schema> =>
  fromJson(schema, messageOf(answer));
