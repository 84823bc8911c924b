// What a spreadsheet takes for a formula: at the start of a cell or, where it separates cells in another way, behind a
// separator. Japanese and Chinese ones take the wide signs, too.
const formula = /(^|[;|\t\r\n])([ "\u00a0\u3000]*)([=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** Returns a cell's text so that a spreadsheet takes no part of it for a formula. */
export function guarded(text: string): string {
  return text.replace(formula, "$1$2'$3").replace(/^(?=[\t\r\n])/, "'");
}

/** Returns a code as it stands if it has only letters, digits and hyphens, as generated ones do: others use the file. */
export function exactCode(code: string): string {
  return /^[A-Z\d-]*$/.test(code) ? code : guarded(code);
}

/** Returns a line of a CSV file (RFC 4180). Every cell is quoted, so that no program takes one for something else. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\r\n`;
}
