/** Formats epoch milliseconds as protobuf's JSON does, which omits a zero fraction. */
export function timestampToJson(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z');
}
