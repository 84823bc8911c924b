import { useMemo } from 'react';
import type { Failure } from '../../rpc/failure.ts';

/** The problems with a request, sorted by where the form shows them. */
export interface Problems {
  /** The problems at fields, by the names of the form's fields. */
  readonly atFields: Readonly<Record<string, string>>;
  /** The failure, unless fields show all of its problems. */
  readonly elsewhere: Failure | undefined;
}

/**
 * Assigns the problems that a service reports for a request to the fields of the form.
 *
 * @param places the form's fields, by the service's names for them.
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
