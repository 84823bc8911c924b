import { type DescField, type DescMessage, type JsonValue, ScalarType } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { existing } from './fixture.ts';
import { anyJson, oddDate, oddDouble, oddInt, oddText } from './odd-values.ts';
import type { Random } from './random.ts';

/** The value of a field, which may be out of the range of its type. */
export type DraftValue =
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'message'; readonly draft: Draft };

/** The fields of a message, any of them absent, repeated or out of range. */
export type Draft = readonly { readonly field: DescField; readonly values: readonly DraftValue[] }[];

/** A random message of a type. A fraction `oddity` of its values is odd; most others are valid. */
export function draftOf(message: DescMessage, random: Random, oddity: number): Draft {
  return message.fields
    .filter((field) => random.chance(chosen(field)))
    .map((field) => ({ field, values: valuesOf(field, random, oddity) }));
}

// A coupon with two discounts, or for some and for all users, is refused at once: only one is chosen. An etag is nearly always
// another one than the record's, and several filters together find nothing.
const rarelyTogether: Readonly<Record<string, number>> = {
  ...{ flat_discount: 0.15, discount_percent: 0.85, is_user_based: 0.15, is_apply_for_all: 0.7 },
  ...{ clear_product_ids: 0.05, page_token: 0.1, etag: 0.1, subject: 0.2, procedure: 0.2, cursor: 0.4 },
  ...{ delivery_from: 0.3, delivery_until: 0.3, product_id: 0.2, group_id: 0.2, coupon_code: 0.6 },
  ...{ starts_at: 0.15, lines: 0.2, user_external_id: 0.1, order_external_id: 0.1, product_external_id: 0.1 },
  ...{ prefix: 0.1, code_length: 0.1 },
};
const usually = 0.95;
// Nothing else names the product of a line and the user of an imported order.
const alone: Readonly<Record<string, string>> = { OrderLine: 'product_id', ImportedOrder: 'user_external_id' };
const chosen = ({ name, parent }: DescField) =>
  alone[parent.name] === name ? usually : (rarelyTogether[name] ?? usually);

function valuesOf(field: DescField, random: Random, oddity: number): DraftValue[] {
  const one = () => oneValue(field, random, oddity);
  if (field.fieldKind !== 'list') return random.chance(oddity * 0.1) ? [one(), one()] : [one()];
  const values = random.times(
    random.weighted([
      [8, random.int(0, 4)],
      [1, 0],
      [oddity, random.int(50, 400)],
    ]),
    one,
  );
  return random.chance(oddity * 0.3) ? [...values, ...values] : values;
}

function oneValue(field: DescField, random: Random, oddity: number): DraftValue {
  const { message, scalar } = field;
  if (message === ValueSchema) return { kind: 'json', value: anyJson(random) };
  if (message !== undefined) return { kind: 'message', draft: draftOf(message, random, oddity) };
  const isOdd = random.chance(oddity);
  if (field.enum !== undefined && !isOdd) return { kind: 'int', value: BigInt(random.pick(field.enum.values).number) };
  switch (scalar) {
    case ScalarType.BOOL:
      return { kind: 'bool', value: random.chance(0.5) };
    case ScalarType.DOUBLE:
      return { kind: 'double', value: isOdd ? oddDouble(random) : random.int(0, 20_000) / 100 };
    case ScalarType.STRING:
      return { kind: 'text', value: isOdd ? oddText(random) : plainText(field.name, random) };
    default:
      return { kind: 'int', value: isOdd ? oddInt(random) : BigInt(random.int(1, existing.ids)) };
  }
}

function plainText(name: string, random: Random): string {
  if (name === 'time_zone') return random.pick(['Asia/Kolkata', 'UTC']);
  if (/time|till|since|until|from/.test(name)) return random.chance(0.9) ? plainDate(random) : oddDate(random);
  if (name === 'resource_type') return random.pick(['slot', 'coupon', 'reserved_coupon', 'user', '']);
  if (name === 'id') return String(random.int(1, existing.ids));
  if (name === 'mobile')
    return random.chance(0.5) ? `90000000${random.int(10, 99)}` : `+91 98765-${random.int(10_000, 99_999)}`;
  if (name === 'code') return random.pick(existing.codes);
  if (name === 'total_amount') return `${random.int(0, 1_000)}.5`;
  if (name === 'snippet_name') return `{name} on {date}, ${random.int(0, 1_000_000)}`;
  if (name === 'secret_code') return `SECRET${random.int(1, existing.ids)}`;
  if (name === 'user_external_id') return `user-${random.int(1, existing.ids)}`;
  if (name === 'search') return random.pick(['co', 'user', '9', 'Ü', '', 'no such thing']);
  // A code that exists is as likely as a new one.
  return random.chance(0.2) ? random.pick(existing.codes) : `fuzz-${random.int(0, 1_000_000)}`;
}

function plainDate(random: Random): string {
  const days = random.int(-30, 60);
  const date = new Date(Date.UTC(2030, 0, 1) + days * 86_400_000 + random.int(0, 86_399_999));
  return random.pick([
    date.toISOString(),
    date.toISOString().slice(0, 10),
    date.toISOString().slice(0, 19),
    date.toUTCString(),
  ]);
}
