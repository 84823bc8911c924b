/** Which entries after a certain one were committed at some moment. */
export interface Passed {
  /** The last one. */
  readonly upTo: number;
  /** The ids before it that were not committed lie between `gapsAfter[n]` and `gapsBefore[n]`. */
  readonly gapsAfter: readonly number[];
  readonly gapsBefore: readonly number[];
}

export const nothingPassed: Passed = { upTo: 0, gapsAfter: [], gapsBefore: [] };

/** Returns SQL of `Passed`: which entries after an id are committed now. */
export const passedAfter = (after: string) => `
     select coalesce(max(id), ${after})::float8 as "upTo",
       coalesce(array_agg(previous::float8) filter (where id > previous + 1), '{}') as "gapsAfter",
       coalesce(array_agg(id::float8) filter (where id > previous + 1), '{}') as "gapsBefore"
     from (
       select id, lag(id, 1, ${after}) over (order by id) as previous from audit_entries where id > ${after}
     ) as entries`;

/** Whether an entry was committed at that moment. */
export const isPassed = (id: number, { upTo, gapsAfter, gapsBefore }: Passed) =>
  id <= upTo && !gapsAfter.some((after, gap) => after < id && id < (gapsBefore[gap] ?? 0));
