/** What the bare servers are told, as a JSON file. */
export interface BareConfig {
  readonly databaseUrl: string;
  /** By procedure, such as `GetSlots`. */
  readonly recordings: Readonly<Record<string, Recording>>;
  /** Answers that are repeated, as base64 of their binary form, by procedure. */
  readonly echoes: Readonly<Record<string, string>>;
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
