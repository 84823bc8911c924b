/** The largest int32, the type of every id and limit. */
export const maxInt32 = 2 ** 31 - 1;

/** Whether an integer is an int32. */
export const isInt32 = (value: number) => value <= maxInt32 && value >= -maxInt32 - 1;

/** Parses an id typed by a person: digits, from 1 to `maxInt32`. Returns undefined for any other text. */
export function parseId(text: string): number | undefined {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  return id >= 1 && id <= maxInt32 ? id : undefined;
}
