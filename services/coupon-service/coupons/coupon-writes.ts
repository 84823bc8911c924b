// SQL shared by the procedures that write coupons. In each statement, `written` has the rows that it writes.

/** A column that procedures write, with its type. Its parameter has the same name in camel case. */
type Column = readonly [name: string, type: string];

/** The terms that coupons and reserved coupons share (spec 2.4, 2.5). */
const terms: readonly Column[] = [
  ['discount_percent', 'numeric'],
  ['flat_discount', 'numeric'],
  ['min_order', 'numeric'],
  ['max_value', 'numeric'],
  ['product_ids', 'integer[]'],
  ['valid_till', 'timestamptz'],
  ['max_limit_for_user', 'integer'],
  ['exclusive_apply', 'boolean'],
];
/** The columns of the message `coupon` in Create and Update. */
const fields: readonly Column[] = [
  ['coupon_code', 'text'],
  ['is_user_based', 'boolean'],
  ['is_apply_for_all', 'boolean'],
  ...terms,
];
const updatedFields: readonly Column[] = [...fields, ['is_invalidated', 'boolean']];

const parameterOf = (column: string) =>
  `$${column.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())}`;
const columnsOf = (columns: readonly Column[]) => columns.map(([name]) => name).join(', ');
const valuesOf = (columns: readonly Column[]) =>
  columns.map(([name, type]) => `${parameterOf(name)}::${type}`).join(', ');

export const termsColumns = columnsOf(terms);
export const termsValues = valuesOf(terms);
export const couponFieldsColumns = columnsOf(fields);
export const couponFieldsValues = valuesOf(fields);
export const updatedColumns = columnsOf(updatedFields);

/**
 * SQL of the fields after an update: a field that is not given keeps its value. Two fields have a flag that clears
 * them, because null means "not given".
 */
export const updatedValues = updatedFields
  .map(([name, type]) => {
    const value = `coalesce(${parameterOf(name)}::${type}, ${name})`;
    if (name === 'product_ids') return `case when not $clearsProductIds::boolean then ${value} end`;
    return name === 'valid_till' ? `case when not $clearsValidTill::boolean then ${value} end` : value;
  })
  .join(', ');

/**
 * SQL of the users or products to link, as `known_users` or `known_products`. The lock prevents their deletion
 * until the links are written.
 */
export const knownUsers = (where = 'true') => known('users', '$applicableUsers', where);
export const knownProducts = (where = 'true') => known('products', '$applicableProducts', where);

const known = (table: string, ids: string, where: string) =>
  `known_${table} as (
     select id from ${table} where id = any((select ${ids}::integer[])::integer[]) and ${where} for key share
   )`;

export const linkUsers = link('coupon_applicable_users', 'coupon_id, user_id', 'known_users');
export const linkProducts = link('coupon_applicable_products', 'coupon_id, product_id', 'known_products');
export const linkReservedProducts = link(
  'reserved_coupon_applicable_products',
  'reserved_coupon_id, product_id',
  'known_products',
);

function link(table: string, columns: string, known: string): string {
  return `linked_${known} as (
     insert into ${table} (${columns})
     select written.id, ${known}.id from written, ${known}
     order by ${known}.id
     on conflict do nothing
   )`;
}

/** SQL that deletes the links an update no longer lists. A list that is not given leaves the links unchanged. */
export const unlinkUsers = unlink('coupon_applicable_users', 'user_id', '$applicableUsers');
export const unlinkProducts = unlink('coupon_applicable_products', 'product_id', '$applicableProducts');

function unlink(table: string, column: string, ids: string): string {
  return `unlinked_${column} as (
     delete from ${table} using written
     where coupon_id = written.id and ${ids} is not null and ${column} not in (select unnest((select ${ids})))
   )`;
}

/**
 * SQL of the links of the coupon `$id` before and after an update, for its audit entry; null for
 * a list that is not given.
 */
export const linksBefore = `
  'applicableUsers', ${idsIfGiven('$applicableUsers', 'user_id from coupon_applicable_users where coupon_id = $id')},
  'applicableProducts', ${idsIfGiven('$applicableProducts', 'product_id from coupon_applicable_products where coupon_id = $id')}`;
export const linksAfter = `
  'applicableUsers', ${idsIfGiven('$applicableUsers', 'id from known_users')},
  'applicableProducts', ${idsIfGiven('$applicableProducts', 'id from known_products')}`;

function idsIfGiven(given: string, ids: string): string {
  return `case when ${given} is not null then array_to_json(array(select ${ids} order by 1)) end`;
}

/** SQL of columns of `found`: whether the staff user `$staffId` exists, and whether the code is free. */
export const isStaff = 'exists (select from staff_users where id = $staffId and disabled_at is null) as "isStaff"';
export const isCodeFree = 'not exists (select from coupons where coupon_code = $couponCode) as "isCodeFree"';
