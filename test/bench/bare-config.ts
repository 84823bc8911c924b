/** What the bare servers are told, as a JSON file. */
export interface BareConfig {
  readonly databaseUrl: string;
  /** Of the writes, by procedure, such as `CreateSlot`. */
  readonly recordings: Readonly<Record<string, Recording>>;
}

/** What one call of a procedure ran on the database. */
export interface Recording {
  readonly statements: readonly RecordedStatement[];
  /** Texts of this one call, such as a name: other calls have their own in these places. */
  readonly texts: readonly string[];
  /** The id of the record that it stored, if any. */
  readonly id: number | undefined;
}

export interface RecordedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}
