// SQL that the procedures which write coupons share. A statement has the rows that it writes as `written`.

/** A column that procedures write, with its type. A parameter has the column's name in camel case. */
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
/** What the `coupon` of Create and Update has. */
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

/** The fields after an update: what is not given stays as it is. Two may be cleared, since null is "not given". */
export const updatedValues = updatedFields
  .map(([name, type]) => {
    const value = `coalesce(${parameterOf(name)}::${type}, ${name})`;
    if (name === 'product_ids') return `case when not $clearsProductIds::boolean then ${value} end`;
    return name === 'valid_till' ? `case when not $clearsValidTill::boolean then ${value} end` : value;
  })
  .join(', ');

/**
 * The users or products that a coupon is linked to, as `known_users` or `known_products`. The lock keeps them from being deleted before
 * their links are written.
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

/** Links that an update does not have any more. A list that is not given leaves the links alone. */
export const unlinkUsers = unlink('coupon_applicable_users', 'user_id', '$applicableUsers');
export const unlinkProducts = unlink('coupon_applicable_products', 'product_id', '$applicableProducts');

function unlink(table: string, column: string, ids: string): string {
  return `unlinked_${column} as (
     delete from ${table} using written
     where coupon_id = written.id and ${ids} is not null and ${column} not in (select unnest((select ${ids})))
   )`;
}

/** The links of the coupon `$id` before an update and after it, as its audit entry shows them: null for a list that is not given. */
export const linksBefore = `
  'applicableUsers', ${idsIfGiven('$applicableUsers', 'user_id from coupon_applicable_users where coupon_id = $id')},
  'applicableProducts', ${idsIfGiven('$applicableProducts', 'product_id from coupon_applicable_products where coupon_id = $id')}`;
export const linksAfter = `
  'applicableUsers', ${idsIfGiven('$applicableUsers', 'id from known_users')},
  'applicableProducts', ${idsIfGiven('$applicableProducts', 'id from known_products')}`;

function idsIfGiven(given: string, ids: string): string {
  return `case when ${given} is not null then array_to_json(array(select ${ids} order by 1)) end`;
}

/** Whether the staff user of a parameter `$staffId` exists, and whether a code is free: columns of `found`. */
export const isStaff = 'exists (select from staff_users where id = $staffId and disabled_at is null) as "isStaff"';
export const isCodeFree = 'not exists (select from coupons where coupon_code = $couponCode) as "isCodeFree"';
