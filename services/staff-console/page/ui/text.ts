/** Reads the number of a record, 1 to 2^31-1; undefined for any other text. White space around it does not count. */
export function readId(text: string | null | undefined): number | undefined {
  const number = /^\s*\d{1,10}\s*$/.test(text ?? '') ? Number(text) : 0;
  return number > 0 && number < 2 ** 31 ? number : undefined;
}

/**
 * Isolates a text of others, such as a name. One with letters or marks that are written from right to left would
 * otherwise turn what follows it in the line.
 */
export function isolate(text: string): string {
  return /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/.test(text)
    ? `\u2068${text}\u2069`
    : text;
}
