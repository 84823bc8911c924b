// A time as microseconds since the epoch: the database's full precision, as decimal text.

/** Infinity, which rows older than migration 0015 may have as a time; with a sign for the other end. */
export const endOfTime = '9223372036854775807';

/** Returns SQL of a time's microseconds. */
export const microsOf = (time: string) =>
  `greatest(least(extract(epoch from ${time}) * 1000000, ${endOfTime}), -${endOfTime})::bigint`;

/** Returns SQL of the time of a parameter that has microseconds. All at once, they would lose digits from 2255 on. */
export const timeOf = (micros: string) => `
  case ${micros}::bigint when ${endOfTime} then 'infinity' when -${endOfTime} then '-infinity'
    else timestamptz 'epoch' + ${micros}::bigint / 1000000 * interval '1 second'
      + ${micros}::bigint % 1000000 * interval '1 microsecond'
  end`;
