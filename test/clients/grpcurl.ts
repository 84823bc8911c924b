import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fromJsonString, toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { expect } from 'vitest';
import { CreateSlotResponseSchema, GetSlotByIdResponseSchema } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { eventually } from '../support/eventually.ts';
import { run } from '../support/processes.ts';
import { bookSlot } from './booking.ts';
import { newSlot, type Outcome, refusedSlot, type Target, unknownSlot } from './outcome.ts';

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, match = '']) => match);

/** Makes the calls by grpcurl, which reads the schema from the server's reflection. */
export async function callByGrpcurl({ grpcPort, token }: Target): Promise<Outcome> {
  const argumentsOf = (method: string, request: object, options: readonly string[]) => [
    ...['-plaintext', '-H', `authorization: Bearer ${token}`, ...options, '-d', JSON.stringify(request)],
    ...[`localhost:${grpcPort}`, `slot.v1.${method}`],
  ];
  const call = (name: string, request: object, ...options: readonly string[]) =>
    run('grpcurl', argumentsOf(`SlotService/${name}`, request, options));
  const watch = spawn('grpcurl', argumentsOf('SlotStoreService/WatchStore', {}, ['-max-time', '60']));
  try {
    let seen = '';
    watch.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text;
    });
    const versions = () => all(seen, /"version":\s*(\d+)/g).map(Number);
    await eventually(() => expect(versions()).not.toEqual([]));
    // With -v, it prints the headers around the message.
    const options = ['-v', '-H', `idempotency-key: ${randomUUID()}`];
    const [first = '', again = ''] = [
      (await call('CreateSlot', newSlot, ...options)).stdout,
      (await call('CreateSlot', newSlot, ...options)).stdout,
    ];
    const contents = (text: string) => all(text, /^Response contents:\n(.*?)^Response trailers/gms)[0] ?? '';
    const { slot } = fromJsonString(CreateSlotResponseSchema, contents(first));
    const found = fromJsonString(GetSlotByIdResponseSchema, (await call('GetSlotById', { id: slot?.id })).stdout);
    await eventually(() => expect(versions().length).toBeGreaterThan(1));
    const booked = await bookSlot(slot?.id, async (name, request) => {
      return JSON.parse((await run('grpcurl', argumentsOf(`SlotBookingService/${name}`, request, []))).stdout);
    });
    return {
      ...booked,
      read: found.slot?.deliveryTime === undefined ? '' : toJson(TimestampSchema, found.slot.deliveryTime),
      versions: versions(),
      isSame: contents(first) === contents(again),
      replayed: [first, again].map((text) => /^idempotent-replayed: true$/m.test(text)),
      reasons: all((await call('GetSlotById', unknownSlot)).stderr, /"reason":\s*"(\w+)"/g),
      fields: all((await call('CreateSlot', refusedSlot)).stderr, /"field":\s*"([^"]+)"/g),
    };
  } finally {
    watch.kill();
  }
}
