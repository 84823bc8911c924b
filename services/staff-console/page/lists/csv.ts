/** Returns a line of a CSV file (RFC 4180). A spreadsheet must not take a cell's text for a formula. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => quote(/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)).join(',')}\r\n`;
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
