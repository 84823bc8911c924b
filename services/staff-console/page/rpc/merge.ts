/** Two versions of a draft that were merged. */
export interface Merged<Draft> {
  readonly draft: Draft;
  /** The fields that both versions have changed, and differently. The draft has the user's own values of them. */
  readonly contradictions: readonly (keyof Draft & string)[];
}

/**
 * Merges the user's own version of a draft with one that somebody else has saved meanwhile. A field that only one of
 * them has changed gets that change. Of lists of records, additions and removals are merged, whoever made them.
 */
export function merge<Draft extends object>(base: Draft, mine: Draft, theirs: Draft): Merged<Draft> {
  const draft = { ...theirs };
  const contradictions: (keyof Draft & string)[] = [];
  for (const name in { ...base, ...mine, ...theirs }) {
    const [was, is, saved] = [base[name], mine[name], theirs[name]];
    if (isSame(was, is) || isSame(is, saved)) continue;
    const merged = mergeLists(was, is, saved);
    Object.assign(draft, { [name]: merged ?? is });
    if (merged === undefined && !isSame(was, saved)) contradictions.push(name);
  }
  return { draft, contradictions };
}

/** Whether two values of a draft are equal. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A member of a list of records, such as a chosen product. The order of such a list has no meaning. */
interface Member {
  readonly id: number;
}

function mergeLists(was: unknown, mine: unknown, theirs: unknown): readonly Member[] | undefined {
  if (!areMembers(was) || !areMembers(mine) || !areMembers(theirs)) return undefined;
  const [had, has, saved] = [was, mine, theirs].map((list) => new Set(list.map(({ id }) => id)));
  return [
    ...theirs.filter(({ id }) => has?.has(id) || !had?.has(id)),
    ...mine.filter(({ id }) => !saved?.has(id) && !had?.has(id)),
  ];
}

function areMembers(value: unknown): value is readonly Member[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null && 'id' in each);
}
