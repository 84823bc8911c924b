/** A user in compact form, as a `CatalogUser` has it. */
export interface ListedUserRow {
  id: number;
  name: string;
  mobile: string;
}

/** SQL of the name under which a user is shown. An empty name counts as none (design 7). */
export const shownName = `coalesce(nullif(users.name, ''), 'Unknown')`;
