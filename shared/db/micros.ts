// A time as microseconds since the epoch: the database's full precision, as decimal text.

/** Returns SQL of a time's microseconds. */
export const microsOf = (time: string) => `(extract(epoch from ${time}) * 1000000)::bigint`;

// PostgreSQL multiplies an interval by a float, which has too few digits for the microseconds from the year 2255 on.
/** Returns SQL of the time of a parameter that has microseconds. */
export const timeOf = (micros: string) => `
  timestamptz 'epoch' + ${micros}::bigint / 1000000 * interval '1 second'
    + ${micros}::bigint % 1000000 * interval '1 microsecond'`;
