import {
  type DescField,
  type DescMessage,
  type DescMethod,
  fromJson,
  type JsonValue,
  type MessageShape,
  ScalarType,
} from '@bufbuild/protobuf';
import { invalidField, invalidRequest } from '../../../shared/errors/errors.ts';
import {
  ImportedOrderSchema,
  ImportedProductGroupSchema,
  ImportedProductSchema,
  ImportedUserSchema,
  ImportService,
} from '../../../shared/gen/catalog/v1/import_service_pb.ts';
import { checkRules } from '../../../shared/rpc/interceptors/validation.ts';
import { procedureName } from '../../../shared/rpc/procedure.ts';
import type { Given, Importing } from '../imports/import.ts';
import { orderImport } from '../procedures/import-orders.ts';
import { productGroupImport } from '../procedures/import-product-groups.ts';
import { productImport } from '../procedures/import-products.ts';
import { userImport } from '../procedures/import-users.ts';
import { type BatchImport, type ImportTarget, importBatch } from './batch.ts';
import type { FileRow } from './file.ts';
import { type StaffRow, staffImport } from './staff.ts';

/** A kind of records that files are imported as. */
export interface ImportKind {
  /** In snake_case. */
  readonly columns: readonly string[];
  /** Imports some rows of a file, as `importBatch` does. */
  importBatch(batch: readonly FileRow[], target: ImportTarget): ReturnType<typeof importBatch>;
}

const kindOf = <Row extends Given>(
  columns: readonly string[],
  method: DescMethod,
  importing: Importing<Row>,
  read: BatchImport<Row>['read'],
): ImportKind => ({
  columns,
  importBatch: (batch, target) => importBatch({ procedure: procedureName(method), importing, read }, batch, target),
});

const columnsOf = ({ fields }: DescMessage) => fields.map(({ name }) => name);

const { importUsers, importProducts, importProductGroups, importOrders } = ImportService.method;

/** The kinds by their names on the command line. */
export const kinds: ReadonlyMap<string, ImportKind> = new Map([
  ['users', kindOf(columnsOf(ImportedUserSchema), importUsers, userImport, reader(ImportedUserSchema))],
  ['products', kindOf(columnsOf(ImportedProductSchema), importProducts, productImport, reader(ImportedProductSchema))],
  [
    'groups',
    kindOf(
      columnsOf(ImportedProductGroupSchema),
      importProductGroups,
      productGroupImport,
      reader(ImportedProductGroupSchema),
    ),
  ],
  ['orders', kindOf(columnsOf(ImportedOrderSchema), importOrders, orderImport, reader(ImportedOrderSchema))],
  ['staff', kindOf(['external_id', 'name', 'is_disabled'], importUsers, staffImport, readStaff)],
]);

/** Reads a staff user. External id and name follow the rules of a group's. */
function readStaff(values: FileRow['values']): StaffRow {
  const { externalId, name } = reader(ImportedProductGroupSchema)(values);
  if (name.trim() === '' || name.length > 200 || /\p{Cc}/u.test(name)) {
    throw invalidField('name', 'must have 1 to 200 characters, and no control characters');
  }
  const isDisabled = values.has('is_disabled') ? toFlag('is_disabled', values.get('is_disabled')) : undefined;
  return { externalId, name, isDisabled };
}

/** Returns a function that reads a message from the values of a row. It throws INVALID_ARGUMENT. */
function reader<Schema extends DescMessage>(schema: Schema): (values: FileRow['values']) => MessageShape<Schema> {
  return (values) => {
    const json = schema.fields.map((field) => [field.name, toJson(field, values.get(field.name))]);
    const message = decode(schema, Object.fromEntries(json));
    checkRules(schema, message);
    return message;
  };
}

function decode<Schema extends DescMessage>(schema: Schema, json: JsonValue): MessageShape<Schema> {
  try {
    return fromJson(schema, json);
  } catch (cause) {
    throw invalidRequest(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function toJson({ name, fieldKind, scalar }: DescField, value: unknown) {
  if (fieldKind === 'list') return toList(name, value);
  return scalar === ScalarType.BOOL ? toFlag(name, value) : toText(name, value);
}

function toText(name: string, value: unknown): string {
  // People's names stay as they are.
  if (typeof value === 'string') return name === 'name' ? value : value.trim();
  if (value === undefined || value === null) return '';
  // A number of more digits may have lost some.
  if (typeof value === 'number' && /^-?(?:\d\.?){1,15}$/.test(String(value))) return String(value);
  throw invalidField(name, 'must be a text, in quotes');
}

function toFlag(name: string, value: unknown): boolean {
  const text = typeof value === 'boolean' ? String(value) : toText(name, value).toLowerCase();
  if (['', 'false', 'f', '0', 'no'].includes(text)) return false;
  if (['true', 't', '1', 'yes'].includes(text)) return true;
  throw invalidField(name, 'must be true or false');
}

/** A list, which in a CSV is separated by blanks. */
function toList(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.map((item) => toText(name, item));
  return toText(name, value).split(/\s+/).filter(Boolean);
}
