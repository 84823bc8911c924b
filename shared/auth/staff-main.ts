import { parseArgs } from 'node:util';
import { ConfigError } from '../config/variables.ts';
import { parseId } from '../db/int32.ts';
import { asOwner } from '../db/owner.ts';

const usage = `usage: staff add NAME     a new staff user; tokens carry the id that it prints first as staff_id
       staff list
       staff disable ID    counts as none within 30 s, on every replica
       staff enable ID`;

interface StaffUserRow {
  id: number;
  name: string;
  disabled: boolean;
}

const columns = 'id, name, disabled_at is not null as disabled';
const insertStaffUser = `insert into staff_users (name) values ($1) returning ${columns}`;
const listStaffUsers = `select ${columns} from staff_users order by id`;
// Disabling a user again keeps the first time.
const disableStaffUser = `update staff_users set disabled_at = coalesce(disabled_at, now()) where id = $1 returning ${columns}`;
const enableStaffUser = `update staff_users set disabled_at = null where id = $1 returning ${columns}`;

const maxNameLength = 200;

try {
  const { positionals } = parseArgs({ allowPositionals: true });
  const { text, values } = toStatement(positionals);
  const { rows } = await asOwner((client) => client.query<StaffUserRow>(text, values));
  if (rows.length === 0 && values.length > 0) throw new ConfigError(`there is no staff user ${values[0]}`);
  process.stdout.write(
    rows.map(({ id, name, disabled }) => `${id}\t${disabled ? 'disabled' : 'active'}\t${name}\n`).join(''),
  );
} catch (error) {
  process.stderr.write(`staff: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

/** Returns the statement for a command line. Throws a `ConfigError` if the command line is not valid. */
function toStatement([command, ...words]: readonly string[]): { text: string; values: unknown[] } {
  switch (command) {
    case 'add':
      return { text: insertStaffUser, values: [readName(words.join(' '))] };
    case 'list':
      if (words.length > 0) break;
      return { text: listStaffUsers, values: [] };
    case 'disable':
      return { text: disableStaffUser, values: [readId(words)] };
    case 'enable':
      return { text: enableStaffUser, values: [readId(words)] };
  }
  throw new ConfigError(usage);
}

function readName(text: string): string {
  const name = text.trim();
  if (name === '') throw new ConfigError(usage);
  if (name.length <= maxNameLength && !/\p{Cc}/u.test(name)) return name;
  throw new ConfigError(`a name has at most ${maxNameLength} characters, and no control characters`);
}

function readId(words: readonly string[]): number {
  const id = parseId(words.join(' '));
  if (id !== undefined) return id;
  throw new ConfigError(`an ID is a number that list shows, which "${words.join(' ')}" is not`);
}
