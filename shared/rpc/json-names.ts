import { create, type DescMessage } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { BadRequestSchema } from '../gen/google/rpc/error_details_pb.ts';

/**
 * Returns the error for a caller who has sent JSON: where it lists invalid fields, they have their JSON names, such as
 * `userExternalId`, as in the request.
 */
export function withJsonNames(error: ConnectError, input: DescMessage): ConnectError {
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  if (violations.length === 0) return error;
  const names = jsonNamesOf(input);
  const spelled = (text: string) =>
    text.replace(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g, (name) => names.get(name) ?? name);
  const fieldViolations = violations.map(({ field, description }) => ({
    field: spelled(field),
    description: spelled(description),
  }));
  const others = error.details.filter((detail) => !('desc' in detail && detail.desc === BadRequestSchema));
  const details = [...others, { desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) }];
  return Object.assign(new ConnectError(spelled(error.rawMessage), error.code, error.metadata, [], error.cause), {
    details,
  });
}

const known = new Map<DescMessage, ReadonlyMap<string, string>>();

/** Returns the JSON names of all fields of a message and of those in it, by their names in the .proto file. */
function jsonNamesOf(message: DescMessage): ReadonlyMap<string, string> {
  const names = known.get(message) ?? new Map(collect(message, new Set()));
  known.set(message, names);
  return names;
}

function collect(message: DescMessage, seen: Set<DescMessage>): [string, string][] {
  if (seen.has(message)) return [];
  seen.add(message);
  return message.fields.flatMap((field) => [
    [field.name, field.jsonName],
    ...(field.message === undefined ? [] : collect(field.message, seen)),
  ]);
}
