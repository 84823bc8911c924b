import { describe } from 'vitest';

/**
 * Declares tests that need a program. Where it is missing, they are skipped with the reason in their name.
 *
 * @param missing why they can't run here; undefined when they can.
 * @param required a variable: where it is set, they have to run. Throws when they can't.
 */
export function describeUnless(
  missing: string | undefined,
  title: string,
  required: string | undefined,
  tests: () => void,
): void {
  if (missing !== undefined && required !== undefined && process.env[required]) {
    throw new Error(`${missing}: it is required here`);
  }
  const name = missing === undefined ? title : `${title} (skipped: ${missing})`;
  describe.skipIf(missing !== undefined)(name, tests);
}
