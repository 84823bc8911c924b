/** A time as protobuf's JSON form has it: without a fraction of zero. */
export function timestampToJson(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z');
}
