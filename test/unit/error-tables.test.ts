import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { couponErrors } from '../../services/coupon-service/errors.ts';
import { slotErrors } from '../../services/slot-service/errors.ts';
import { databaseErrors } from '../../shared/db/errors.ts';
import { commonErrors, type ErrorRow, errorDomain } from '../../shared/errors/errors.ts';
import { read, sourceFiles } from '../support/repository.ts';

const tables: Record<string, Record<string, ErrorRow>> = { commonErrors, databaseErrors, slotErrors, couponErrors };
const rows = Object.values(tables).flatMap((table) => Object.values(table));
const source = sourceFiles.map(read).join('\n');
const reasonsFile = '../../services/client/connect/reasons.ts';
const codeName = (code: Code) => Code[code].replace(/(?<!^)([A-Z])/g, '_$1').toUpperCase();

// The messages of the specification's sections 4.2 and 7, to the letter, with the codes of the design.
const specified: readonly [keyof typeof Code, string][] = [
  ['Unauthenticated', 'Access denied'],
  ['InvalidArgument', 'Delivery time and orders close time are required'],
  ['InvalidArgument', 'One or more invalid product IDs in snippet "<name>"'],
  ['AlreadyExists', 'Snippet name "<name>" already exists'],
  ['NotFound', 'Slot not found'],
  ['FailedPrecondition', 'Unable to Update Slot'],
  ['InvalidArgument', 'Either discountPercent or flatDiscount must be provided (but not both)'],
  ['InvalidArgument', 'applicableUsers is required for user-based coupons (or set isApplyForAll to true)'],
  ['InvalidArgument', 'Cannot be both user-based and apply for all users'],
  ['InvalidArgument', 'Some applicable users not found'],
  ['InvalidArgument', 'Some applicable products not found'],
  ['Unauthenticated', 'Unauthorized'],
  ['AlreadyExists', 'Coupon code already exists'],
  ['NotFound', 'Coupon not found'],
  ['InvalidArgument', 'Cannot have both discountPercent and flatDiscount'],
  ['InvalidArgument', 'applicableUsers is required for user-based coupons'],
  ['NotFound', 'Order not found'],
  ['NotFound', 'User not found for this order'],
  ['AlreadyExists', 'Secret code already exists'],
  ['InvalidArgument', 'Mobile number must be exactly 10 digits'],
  ['AlreadyExists', 'Generated coupon code already exists - please try again'],
  ['Unauthenticated', 'Authentication required'],
];

/** Each table, and the heading of its own in docs/errors.md. */
const headings: readonly (readonly [string, string])[] = [
  ['commonErrors', 'Any call'],
  ['databaseErrors', 'The database'],
  ['slotErrors', 'slot-service'],
  ['couponErrors', 'coupon-service'],
];
const page = read('docs/errors.md');
const sections = page.split(/^## /m);
const rowsIn = (text: string) => text.split('\n').filter((line) => /^\| `[A-Z_]+` \| [A-Z_]+ \| /.test(line));

const reasonsHead = `// Written by test/unit/error-tables.test.ts from the error tables of both services.

/** The reasons of errors, which are stable: branch on them, not on messages. */
export const Reason = {
`;

describe('The error tables', () => {
  it.each(specified)('The error tables have %s: %s', (code, message) => {
    expect(rows.filter((row) => row.message === message).map((row) => Code[row.code])).toEqual([code]);
  });

  it('The error tables use a reason for one kind of error only', () => {
    // An order key is taken by another user's booking, or by one of the slot that a booking moves to (design 15).
    const messageOf = ({ reason, message }: ErrorRow) => (reason === 'ORDER_KEY_TAKEN' ? '' : message);
    const kinds = new Map(rows.map((row) => [row.reason, `${row.code} ${messageOf(row)}`]));
    for (const row of rows) expect(kinds.get(row.reason)).toBe(`${row.code} ${messageOf(row)}`);
    expect(rows.every(({ reason }) => /^[A-Z]+(_[A-Z]+)*$/.test(reason))).toBe(true);
  });

  it.each(headings)('%s has the same rows as the table of docs/errors.md below "%s"', (name, heading) => {
    const lines = Object.values(tables[name] ?? {}).map(
      (row) => `| \`${row.reason}\` | ${codeName(row.code)} | \`${row.message}\` |`,
    );
    const section = sections.find((text) => text.startsWith(`${heading}\n`)) ?? '';
    expect(rowsIn(section).toSorted()).toEqual(lines.toSorted());
  });

  it('docs/errors.md has no table of errors below another heading, and names the domain', () => {
    const listed = headings.flatMap(([name]) => Object.values(tables[name] ?? {}));
    expect(rowsIn(page)).toHaveLength(listed.length);
    expect(listed).toHaveLength(rows.length);
    expect(page).toContain(errorDomain);
  });

  // `npx vitest run --project suite test/unit/error-tables.test.ts -u` writes the file anew.
  it('The error tables have the same reasons as the constants of the client', async () => {
    const named = [...new Map(rows.map((row) => [row.reason, row])).values()];
    const constants = named.map(
      (row) => `  /** ${codeName(row.code)}: ${row.message} */\n  ${row.reason}: '${row.reason}',\n`,
    );
    await expect(`${reasonsHead}${constants.join('')}} as const;\n`).toMatchFileSnapshot(reasonsFile);
  });

  it.each(Object.entries(tables))('%s has no row that nothing throws', (name, table) => {
    for (const key of Object.keys(table)) expect(source.includes(`${name}.${key}`), key).toBe(true);
  });
});
