import { useMemo } from 'react';
import type { Failure } from '../../rpc/failure.ts';

/** Where the problems of a request stand. */
export interface Problems {
  /** By the names of the form's fields. */
  readonly atFields: Readonly<Record<string, string>>;
  /** What stands at no field. */
  readonly elsewhere: Failure | undefined;
}

/**
 * Places the problems that a service has with a request at the fields of its form.
 *
 * @param places the form's fields, by the names that the service has for them.
 */
export function useProblems(failure: Failure | undefined, places: Readonly<Record<string, string>>): Problems {
  return useMemo(() => {
    const atFields: Record<string, string> = {};
    const problems = Object.entries(failure?.fields ?? {});
    for (const [name, problem] of problems) {
      const place = places[name];
      if (place !== undefined) atFields[place] ??= problem;
    }
    const isPlaced = problems.length > 0 && problems.every(([name]) => places[name] !== undefined);
    return { atFields, elsewhere: isPlaced ? undefined : failure };
  }, [failure, places]);
}
