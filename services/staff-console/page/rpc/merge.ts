/**
 * Merges a draft with what somebody else has saved meanwhile: changes of different fields, and additions to lists and
 * removals from them. A field that both have changed differently is a contradiction, and keeps the user's own value.
 */
export function merge<Draft extends object>(base: Draft, mine: Draft, theirs: Draft) {
  let draft = { ...theirs };
  const contradictions: (keyof Draft & string)[] = [];
  for (const name in { ...base, ...mine, ...theirs }) {
    const [was, is, saved] = [base[name], mine[name], theirs[name]];
    if (isSame(was, is) || isSame(is, saved)) continue;
    const merged = mergeLists(was, is, saved);
    draft = merged ? { ...draft, [name]: merged } : takeField(draft, name, mine);
    if (merged === undefined && !isSame(was, saved)) contradictions.push(name);
  }
  return { draft, contradictions };
}

/** Returns a draft with a field of another one, or without it as that one. */
export function takeField<Draft extends object>(draft: Draft, name: keyof Draft, from: Draft): Draft {
  const changed = { ...draft, [name]: from[name] };
  if (!(name in from)) Reflect.deleteProperty(changed, name);
  return changed;
}

/** Whether two values of a draft are equal. */
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Lists of records, such as chosen products, are merged. Their order has no meaning. */
function mergeLists(was: unknown, mine: unknown, theirs: unknown): readonly { readonly id: number }[] | undefined {
  if (!areMembers(was) || !areMembers(mine) || !areMembers(theirs)) return undefined;
  const [had, has, saved] = [was, mine, theirs].map((list) => new Set(list.map(({ id }) => id)));
  return [
    ...theirs.filter(({ id }) => has?.has(id) || !had?.has(id)),
    ...mine.filter(({ id }) => !saved?.has(id) && !had?.has(id)),
  ];
}

function areMembers(value: unknown): value is readonly { readonly id: number }[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null && 'id' in each);
}
