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
  ['starts_at', 'timestamptz'],
  ['valid_till', 'timestamptz'],
  ['max_limit_for_user', 'integer'],
  ['max_uses', 'integer'],
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

const clearing = new Map([
  ['product_ids', '$clearsProductIds'],
  ['starts_at', '$clearsStartsAt'],
  ['valid_till', '$clearsValidTill'],
]);

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
 * SQL of the fields after an update: a field that is not given keeps its value. Those of `clearing` have a flag that
 * clears them, because null means "not given".
 */
export const updatedValues = updatedFields
  .map(([name, type]) => {
    const value = `coalesce(${parameterOf(name)}::${type}, ${name})`;
    const flag = clearing.get(name);
    return flag === undefined ? value : `case when not ${flag}::boolean then ${value} end`;
  })
  .join(', ');

/** The links of a coupon to users or products. Others may delete these, and the links stay (design 14). */
interface Links {
  readonly table: string;
  readonly owner: string;
  readonly target: string;
  readonly records: string;
  /** SQL of the given ids, a set; null: not given. */
  readonly ids: string;
}

const userLinks: Links = {
  table: 'coupon_applicable_users',
  owner: 'coupon_id',
  target: 'user_id',
  records: 'users',
  ids: '$applicableUsers::integer[]',
};
const productLinks: Links = {
  table: 'coupon_applicable_products',
  owner: 'coupon_id',
  target: 'product_id',
  records: 'products',
  ids: '$applicableProducts::integer[]',
};

/** SQL of columns of `found` for a new coupon: whether all given records exist. */
export const usersExist = exist(userLinks, 'usersExist');
export const productsExist = exist(productLinks, 'productsExist');

function exist({ records, ids }: Links, column: string): string {
  return `(select count(*) from ${records} where id = any(${ids}::integer[])) = coalesce(cardinality(${ids}), 0) as "${column}"`;
}

export const linkUsers = link(userLinks);
export const linkProducts = link(productLinks);
export const linkReservedProducts = link({
  ...productLinks,
  table: 'reserved_coupon_applicable_products',
  owner: 'reserved_coupon_id',
});

/** Returns SQL that links the new coupons of `written`. */
function link({ table, owner, target, ids }: Links): string {
  return `linked_${target} as (
     insert into ${table} (${owner}, ${target})
     select written.id, given.id from written, (select unnest(${ids}) as id order by id) as given
   )`;
}

/** SQL of the given ids that the coupon `$id` is not linked to, as `new_user_id` or `new_product_id`. */
export const newUsers = newLinks(userLinks);
export const newProducts = newLinks(productLinks);

function newLinks({ table, target, ids }: Links): string {
  return `new_${target} as materialized (
     select given.id from unnest(${ids}) as given (id)
     where not exists (select from ${table} where coupon_id = $id and ${target} = given.id)
   )`;
}

/** SQL of columns of `found` for an update: whether all records exist that the coupon is to be linked to anew. */
export const newUsersExist = newExist(userLinks, 'usersExist');
export const newProductsExist = newExist(productLinks, 'productsExist');

function newExist({ target, records }: Links, column: string): string {
  return `not exists (
     select from new_${target} left join ${records} on ${records}.id = new_${target}.id where ${records}.id is null
   ) as "${column}"`;
}

/**
 * SQL that gives the coupon in `written` the given links. Links that stay keep their ids, and draw none. A list that is
 * not given leaves the links unchanged.
 */
export const relinkUsers = relink(userLinks);
export const relinkProducts = relink(productLinks);

function relink({ table, target, ids }: Links): string {
  return `unlinked_${target} as (
     delete from ${table} using written
     where coupon_id = written.id and ${ids} is not null and ${target} not in (select unnest(${ids}))
   ),
   linked_${target} as (
     insert into ${table} (coupon_id, ${target})
     select written.id, new_${target}.id from written, new_${target} order by new_${target}.id
     on conflict do nothing
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
  'applicableUsers', ${idsIfGiven('$applicableUsers', 'unnest($applicableUsers::integer[])')},
  'applicableProducts', ${idsIfGiven('$applicableProducts', 'unnest($applicableProducts::integer[])')}`;

function idsIfGiven(given: string, ids: string): string {
  return `case when ${given} is not null then array_to_json(array(select ${ids} order by 1)) end`;
}

/** SQL of the id lists of a `NewCoupon` for its audit entry. */
export const linksEntry = `'productIds', $productIdsJson::json, 'applicableUsers', $usersJson::json,
  'applicableProducts', $productsJson::json`;

/** SQL of columns of `found`: whether the staff user `$staffId` exists, and whether the code is free. */
export const isStaff = 'exists (select from staff_users where id = $staffId and disabled_at is null) as "isStaff"';
export const isCodeFree = 'not exists (select from coupons where coupon_code = $couponCode) as "isCodeFree"';
