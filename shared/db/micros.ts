// A time as microseconds since the epoch: the database's full precision, as decimal text.

/** Stands for the time `infinity`, which rows older than migration 0015 may have. Negative, it stands for `-infinity`. */
export const endOfTime = '9223372036854775807';

/** Returns SQL of a time's microseconds. */
export const microsOf = (time: string) =>
  `greatest(least(extract(epoch from ${time}) * 1000000, ${endOfTime}), -${endOfTime})::bigint`;

// PostgreSQL multiplies an interval by a float, which has too few digits for the microseconds from the year 2255 on.
/** Returns SQL of the time of a parameter that has microseconds. */
export const timeOf = (micros: string) => `
  case ${micros}::bigint when ${endOfTime} then 'infinity' when -${endOfTime} then '-infinity'
    else timestamptz 'epoch' + ${micros}::bigint / 1000000 * interval '1 second'
      + ${micros}::bigint % 1000000 * interval '1 microsecond'
  end`;
